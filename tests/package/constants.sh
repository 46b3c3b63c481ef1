#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# constants.sh - what documents say of the program's fixed sizes and times is what the source has.
#
# Behind such a number, in the same line, documents have <!-- EXPRESSION = NUMBER -->, manual pages a comment in the line
# below. The expression is of constants that are defined in src or bpf, the number as the text has it:
#
#   a line that it leaves unread for 5 seconds <!-- UNREAD_NS = 5 seconds --> is taken for Enter
set -u
cd "$(dirname "$0")/../.." || exit 1
# shellcheck source=tests/machine/lib.sh
. tests/machine/lib.sh

# The lines that are wrong, each with the reason; at last "marks N".
read_marks() {
	# shellcheck disable=SC2016 # Perl's
	perl -e '
		use strict;
		use warnings;

		my (%defined, $marks);
		my %unit = ("" => 1, ns => 1, us => 1e3, ms => 1e6, s => 1e9, seconds => 1e9, m => 6e10, h => 3.6e12,
			K => 1 << 10, KiB => 1 << 10, M => 1 << 20, MiB => 1 << 20, G => 1 << 30, GiB => 1 << 30);

		# Of a name that several files define the values are to be the same.
		sub value {
			my ($expression, $deep) = @_;

			die "too deep\n" if $deep > 9;
			$expression =~ s/\b0x([0-9a-f]+)(?:ULL|U|u)?\b/hex $1/ge;
			$expression =~ s/\b(\d+)(?:ULL|U|u)\b/$1/g;
			$expression =~ s/\b([A-Z][A-Z0-9_]+)\b/"(" . constant($1, $deep + 1) . ")"/ge;
			die "\"$expression\" is no constant\n" if $expression !~ m{^[-+*/<>()\d\s]+$};
			my $v = eval $expression;
			die "\"$expression\" cannot be calculated\n" if !defined $v;
			return $v;
		}
		sub constant {
			my ($name, $deep) = @_;
			my %values = map { value($_, $deep) => 1 } @{$defined{$name} or die "$name is not defined\n"};

			die "$name has several values\n" if keys %values != 1;
			return (keys %values)[0];
		}
		sub number {
			my ($text) = @_;

			$text =~ /^([\d,]+) ?([A-Za-z]*)$/ or die "\"$text\" is no number\n";
			die "$2 is no unit\n" if !defined $unit{$2};
			return ($1 =~ tr/,//dr) * $unit{$2};
		}

		for my $file (split /\n/, `find src bpf -name "*.[ch]"`) {
			open my $f, "<", $file or die;
			while (<$f>) {
				next if !m{^#define\s+([A-Z][A-Z0-9_]+)\s+(.*?)\s*(?:/\*.*|//.*)?$};
				push @{$defined{$1}}, $2 if $2 ne "";
			}
		}
		for my $file (@ARGV) {
			my ($before, $nr) = ("", 0);

			open my $f, "<", $file or die "$file: $!\n";
			while (my $line = <$f>) {
				my @marks = $line =~ /<!-- (.*?) -->/g;
				my $text = $line =~ s/<!-- .*? -->//gr;

				$nr++;
				if ($file !~ /\.md$/) {
					@marks = $line =~ /^\.\\" ([A-Z(].* = .*)$/;
					$text = $before;
				}
				for (@marks) {
					my ($expression, $told) = /^(.*) = (.*)$/ or next;
					my $v = eval { value($expression, 0) };

					$marks++;
					if (!defined $v || !defined(my $n = eval { number($told) })) {
						print "$file:$nr: $_: $@";
					} else {
						print "$file:$nr: $_: it is $v\n" if $v != $n;
						print "$file:$nr: the text does not say $told\n" if $text !~ /(?<![\d,.])\Q$told\E(?![\d])/;
					}
				}
				$before = $line if !@marks;
			}
		}
		print "marks $marks\n";' "$@"
}

found=$(read_marks README.md docs/*.md docs/guides/*.md docs/man/*.8 docs/man/common.inc)
wrong=$(sed '/^marks [0-9]*$/d' <<<"$found")
[[ -z $wrong ]] || sed 's/^/# /' <<<"$wrong"
check "constants in documents are those of the source" test -z "$wrong"
marks=$(sed -n 's/^marks //p' <<<"$found")
check "there are marks ($marks)" test "${marks:-0}" -ge 50
finish
