#compdef ntprof-bpf
# SPDX-License-Identifier: GPL-2.0-only
#
# Completion of ntprof-bpf's command line in zsh: what the completion of bash says, which has to be there, and bash.

_ntprof_bpf_from_bash() {
	local name
	local -a lines offered

	lines=("${(@f)$(bash -c '. "$1" && shift && _ntprof_bpf_tell "$@"' - /usr/share/bash-completion/completions/ntprof-bpf \
		"${(@Q)words[1,CURRENT]}" 2>/dev/null)}")
	name=$lines[1]
	shift lines
	[[ $PREFIX != --*=* ]] || compset -P '*='
	case $name in
	FILE) _files ;;
	DIR) _files -/ ;;
	PEER) _alternative 'commands:command:_command_names -e' 'files:file:_files' 'hosts:host:_hosts' ;;
	CONDITION | WHEN) compadd -S '' -- ${${(@)lines%%$'\t'*}#--*=} ;;
	# Others have chosen these. What _describe shows, it shows as it is, escape sequences and all.
	NQN | HOSTNQN | PATH) compadd -- "${(@)${(@)${(@)lines:#}%%$'\t'*}#--*=}" ;;
	*)
		offered=(${${${(@)lines//:/\\:}/$'\t'/:}#--*=})
		if [[ -n $name ]]; then _describe $name offered; else _describe -o option offered; fi
		;;
	esac
}

_ntprof_bpf_from_bash "$@"
