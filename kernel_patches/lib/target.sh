# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# target.sh - the directory of the installed modules, and what lies in it:
#   NAME.ko              the modules
#   built-from           what they were built from, see origin.sh
#   made                 the directories that were made for them, which go when they go
#   .NAME.new, .NAME.old while files change: the next ones, and the former ones. depmod passes over such names.
#
# Directories appear and go by a rename, under a name of their own before and after: one that is there is complete.

target_scratch=.ntprof-bpf.new

# target_forget: what a change, or a killed one, has left
target_forget() {
	local dir=$target

	rm -f "$target"/.*.{old,new}
	while [[ $dir == "$DESTDIR"/?* ]]; do
		dir=$(dirname "$dir")
		rm -rf "${dir:?}/$target_scratch"
	done
}

# target_make: its missing parents too
target_make() {
	local dir=$target missing=() new below

	while [[ ! -d $dir ]]; do
		missing=("$dir" "${missing[@]}")
		dir=$(dirname "$dir")
	done
	if ((${#missing[@]})); then
		new=$dir/$target_scratch
		below=${target#"${missing[0]}"}
		mkdir -p "$new$below" || die "cannot make $target"
		printf '%s\n' "${missing[@]#"$DESTDIR"}" >"$new$below/made"
		mv -T "$new" "${missing[0]}" || die "cannot make $target"
	fi
	[[ -w $target ]] || die "cannot write to $target"
}

# target_remove: without modules in it; and the directories made for it, unless others use them
target_remove() {
	local dirs=() dir i top='' scratch

	[[ -d $target ]] || return 0
	target_forget
	rm -f "$target/built-from"
	[[ ! -e $target/made ]] || mapfile -t dirs <"$target/made"
	for ((i = ${#dirs[@]} - 1; i >= 0; i--)); do
		dir=$DESTDIR${dirs[i]}
		[[ -z $(find "$dir" -mindepth 1 ! -type d ! -path "$target/made" -print -quit) ]] || break
		# Other directories in it, though empty, are others'.
		[[ $(find "$dir" -mindepth 1 -type d | wc -l) == $((${#dirs[@]} - 1 - i)) ]] || break
		top=$dir
	done
	if [[ -n $top ]]; then
		scratch=${top%/*}/$target_scratch
		mv -T "$top" "$scratch"
		rm -rf "$scratch"
	fi
}

# target_put FILE NAME: FILE becomes NAME in it, once target_commit is called
target_put() {
	install -m 644 "$1" "$target/.$2.new"
}

# target_save NAME...: keep them for target_restore
target_save() {
	local name

	for name in "$@"; do
		[[ ! -e $target/$name ]] || cp -p "$target/$name" "$target/.$name.old"
	done
}

# target_commit NAME...: those put
target_commit() {
	local name

	# A name must not reach the disk before what it names.
	sync -f "$target"
	for name in "$@"; do
		mv -f "$target/.$name.new" "$target/$name"
	done
}

# target_restore NAME...: those saved
target_restore() {
	local name

	for name in "$@"; do
		[[ ! -e $target/.$name.old ]] || mv -f "$target/.$name.old" "$target/$name"
	done
}
