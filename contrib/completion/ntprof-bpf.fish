# SPDX-License-Identifier: GPL-2.0-only
#
# Completion of ntprof-bpf's command line in fish: what the completion of bash says, which has to be there, and bash.

function __ntprof_bpf_complete
    set -l current (commandline -ct)
    set -l words (commandline -opc) "$current"
    set -l lines (bash -c '. "$1" && shift && _ntprof_bpf_tell "$@"' - /usr/share/bash-completion/completions/ntprof-bpf $words 2>/dev/null)
    set -l prefix (string match -r -- '^--[^=]*=' $current)
    set -l value (string replace -- "$prefix" "" "$current")

    switch "$lines[1]"
        case FILE
            __fish_complete_path "$value" | string replace -r '^' -- "$prefix"
        case DIR
            __fish_complete_directories "$value" "" | string replace -r '^' -- "$prefix"
        case PEER
            __fish_complete_command | string replace -r '^' -- "$prefix"
            __fish_print_hostnames | string replace -r '^' -- "$prefix"
        case '*'
            string match -r -- '.+' $lines[2..-1] | string replace -r '\t$' ""
    end
end

complete -c ntprof-bpf -f -a '(__ntprof_bpf_complete)'
