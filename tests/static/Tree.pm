# SPDX-License-Identifier: GPL-2.0-only
#
# Tree - the C files of a source tree and what they include, for the checks beside this file.
package Tree;
use strict;
use warnings;
use Exporter 'import';
use File::Find;
our @EXPORT = qw(source_files read_file includes module_of);

# source_files(ROOT, FOLDERS...): paths of the .c and .h files below, relative to ROOT, sorted.
sub source_files {
	my ($root, @folders) = @_;
	my @files;

	for my $folder (grep { -d "$root/$_" } @folders) {
		find({ no_chdir => 1, wanted => sub {
			push @files, substr($_, length("$root/")) if -f && /\.[ch]$/;
		} }, "$root/$folder");
	}
	return sort @files;
}

# read_file(PATH): its text, without its comments; lines keep their numbers.
sub read_file {
	my ($path) = @_;

	open(my $in, '<', $path) or die "$path: $!\n";
	local $/;
	my $text = <$in>;
	close($in);
	$text =~ s{("(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])+')|(/\*.*?\*/|//[^\n]*)}{
		my ($literal, $comment) = ($1, $2);
		$comment =~ s/[^\n]//g if defined $comment;
		$literal // $comment
	}gse;
	return $text;
}

# includes(ROOT, FILE): [LINE, NAME, SYSTEM] of each #include of FILE, a path below ROOT.
sub includes {
	my ($root, $file) = @_;
	my @found;
	my $line = 0;

	for (split /\n/, read_file("$root/$file")) {
		$line++;
		push @found, [$line, $2, $1 eq '<'] if /^\s*#\s*include\s*([<"])([^>"]+)[>"]/;
	}
	return @found;
}

# module_of(FILE): a module is a pair NAME.c and NAME.h, and goes by its path without src/.
sub module_of {
	my ($file) = @_;

	$file =~ s{^src/}{};
	$file =~ s{\.(?:[cho]|bpf\.[ch])$}{};
	return $file;
}

1;
