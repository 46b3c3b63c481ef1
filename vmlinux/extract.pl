#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-only
#
# extract.pl - pick the listed types out of BTF and write them in C, for vmlinux/generate
#
#   extract.pl [--lacking FILE] TYPES KERNEL NAME=DUMP...
#
# TYPES is vmlinux/types.txt; KERNEL the kernel's name; each DUMP the output of "bpftool btf dump file
# NAME", the kernel's first. Prints the header, or what is wrong with the list. With --lacking, what TYPES marks with "?"
# may be lacking: it is left out, and FILE has a line for each, such as "typedef blk_opf_t" or "constant MQ_RQ_IDLE".
use strict;
use warnings;

my $lacking_file = @ARGV && $ARGV[0] eq '--lacking' ? (splice @ARGV, 0, 2)[1] : undef;
my ($list, $kernel, @dumps) = @ARGV;
my %words = (STRUCT => 'struct', UNION => 'union', ENUM => 'enum', ENUM64 => 'enum',
	     TYPEDEF => 'typedef');
my @btfs;    # { name, types => { id => type }, base => the kernel's btf or undef }
my %by_name; # "struct x" => [[btf, type]...]; "enum" => the same for all enums without a name
my %listed;  # "struct x" => line of the list that has it
my %known;   # the same, once it is written
my %forward; # "struct x" => 1, where a pointer to it is written
my %marked;  # "enum x", "typedef x", "constant X" => 1, which a kernel may lack
my @lacking; # those that this one lacks

sub fail
{
	print STDERR "vmlinux/generate: ", @_, "\n";
	exit 2;
}

# A type's line is "[ID] KIND 'name' key=value...", a member's or constant's "\t'name' key=value...".
sub read_dump
{
	my ($name, $path, $base) = @_;
	my $btf = { name => $name, base => $base, types => {} };
	my $type;

	open(my $in, '<', $path) or fail("$path: $!");
	while (<$in>) {
		if (/^\[(\d+)\] (\w+) '(.*?)'(.*)/) {
			$type = { id => $1, kind => $2, name => $3, members => [], fields("$4") };
			$type->{name} = '' if $type->{name} eq '(anon)';
			$btf->{types}{$1} = $type;
			my $tag = tag($type);
			push @{ $by_name{$tag} }, [$btf, $type] if $tag;
		} elsif (/^\t'(.*?)'(.*)/) {
			my $member = { name => $1, fields("$2") };
			$member->{name} = '' if $member->{name} eq '(anon)';
			push @{ $type->{members} }, $member;
		}
	}
	return $btf;
}

sub fields
{
	my ($text) = @_;

	return $text =~ /(\w+)=(\S+)/g;
}

# What a type is called in C and in the list; '' for one that cannot be listed.
sub tag
{
	my ($type) = @_;
	my $word = $words{ $type->{kind} };

	return '' if !$word;
	return "$word $type->{name}" if $type->{name} ne '';
	return $word eq 'enum' ? 'enum' : '';
}

sub type_of
{
	my ($btf, $id) = @_;

	return $btf->{types}{$id} // ($btf->{base} ? $btf->{base}{types}{$id} : undef)
		// fail("$btf->{name}: has no type $id: is it of another kernel?");
}

# "@inner" declared as type @id: C's declarations are read from the inside. @what is for messages.
sub declare
{
	my ($btf, $id, $inner, $what, $pointed) = @_;

	return "void $inner" if $id == 0;
	my $type = type_of($btf, $id);
	my $kind = $type->{kind};

	return "$type->{name} $inner" if $kind eq 'INT' || $kind eq 'FLOAT';
	return declare($btf, $type->{type_id}, $inner, $what, $pointed) if $kind eq 'TYPE_TAG';
	if ($kind eq 'ARRAY') {
		$inner = "($inner)" if $pointed;
		return declare($btf, $type->{type_id}, "${inner}[$type->{nr_elems}]", $what);
	}
	if ($kind eq 'PTR') {
		return declare($btf, $type->{type_id}, "*$inner", $what, 1);
	}
	if ($kind =~ /^(CONST|VOLATILE|RESTRICT)$/) {
		my $next = $type->{type_id} && type_of($btf, $type->{type_id});

		return declare($btf, $type->{type_id}, lc($kind) . " $inner", $what, $pointed)
			if $next && $next->{kind} eq 'PTR';
		return lc($kind) . ' ' . declare($btf, $type->{type_id}, $inner, $what, $pointed);
	}
	if ($kind eq 'FWD') {
		$forward{"$type->{fwd_kind} $type->{name}"} = 1;
		return "$type->{fwd_kind} $type->{name} $inner";
	}
	my $tag = tag($type);
	fail("$what: its type cannot be written here: ", lc($kind), " without a name")
		if $tag eq '' || $tag eq 'enum';
	if ($pointed && $kind =~ /^(STRUCT|UNION)$/) {
		$forward{$tag} = 1;
	} elsif (!$known{$tag}) {
		fail("$what: its type, $tag, is not listed above it");
	}
	return $kind eq 'TYPEDEF' ? "$type->{name} $inner" : "$tag $inner";
}

# Member @name of a struct or union, or of what is in it without a name of its own.
sub member
{
	my ($btf, $type, $name) = @_;

	for my $member (@{ $type->{members} }) {
		return $member if $member->{name} eq $name;
		next if $member->{name} ne '';
		my $found = member($btf, type_of($btf, $member->{type_id}), $name);
		return $found if $found;
	}
	return undef;
}

# @what is not there, which is allowed.
sub may_lack
{
	my ($what) = @_;

	return 0 if !defined $lacking_file || !$marked{$what};
	push @lacking, $what if !grep { $_ eq $what } @lacking;
	return 1;
}

# The definition of @type with the members @names, or undef and the first member that it lacks.
sub define
{
	my ($btf, $type, $tag, @names) = @_;
	my $text = "$tag {\n";

	for my $name (@names) {
		my $member = member($btf, $type, $name);

		if (!$member) {
			next if $tag =~ /^enum/ && may_lack("constant $name");
			return (undef, $name);
		}
		if ($tag =~ /^enum/) {
			$text .= "\t$name = $member->{val},\n";
			next;
		}
		my $bits = $member->{bitfield_size} ? " : $member->{bitfield_size}" : '';
		my $c = declare($btf, $member->{type_id}, $name, "$tag: $name") . $bits;
		$text .= "\t$c;\n";
	}
	return "$text};\n";
}

# What a definition comes to. Of integers a kernel may have a typedef twice, once by way of another typedef (u8 and the
# __u8 of user space); it is the first that is written.
sub meaning
{
	my ($btf, $type, $c) = @_;

	return $c if $type->{kind} ne 'TYPEDEF';
	while ($type->{kind} eq 'TYPEDEF') {
		return $c if $type->{type_id} == 0;
		$type = type_of($btf, $type->{type_id});
	}
	return $type->{kind} eq 'INT' ? "INT $type->{name}" : $c;
}

# The listed type in C. All kernel and module BTF that has it must agree on what is listed.
sub extract
{
	my ($tag, @names) = @_;
	my ($text, $from, $means, $lacking, $lacks);

	return '' if !$by_name{$tag} && may_lack($tag);
	fail("$tag: not in the BTF of ", join(', ', map { $_->{name} } @btfs)) if !$by_name{$tag};
	for (@{ $by_name{$tag} }) {
		my ($btf, $type) = @$_;
		my ($c, $missing);

		if ($tag =~ /^typedef (.*)/) {
			$c = 'typedef ' . declare($btf, $type->{type_id}, $1, $tag) . ";\n";
		} else {
			($c, $missing) = define($btf, $type, $tag, @names);
		}
		if (!defined $c) {
			($lacking, $lacks) = ($missing, $btf->{name}) if !defined $lacking;
		} elsif (!defined $text) {
			($text, $from, $means) = ($c, $btf->{name}, meaning($btf, $type, $c));
		} elsif ($means ne meaning($btf, $type, $c)) {
			fail("$tag: $from and $btf->{name} do not agree on it:\n$text$c");
		}
	}
	return $text if defined $text;
	fail("$tag: no enum without a name has all of: @names") if $tag eq 'enum';
	my $what = $tag =~ /^enum/ ? 'constant' : 'member';
	fail("$tag: has no $what $lacking in the BTF of $lacks");
}

my $base;
for (@dumps) {
	my ($name, $path) = /^(.*)=(.*)$/;
	my $btf = read_dump($name, $path, $base);

	$base //= $btf;
	push @btfs, $btf;
}

my $push = '#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)';
my $body = '';
my $last_file = '';
my $records = 0;
open(my $in, '<', $list) or fail("$list: $!");
while (<$in>) {
	my $where = "types.txt:$.";

	next if /^\s*(#|$)/;
	/^(struct|union|enum|typedef)(?: (\w+)(\??))?:((?:\s+\w+\??)+)\s*#\s*(\S.*?)\s*$/
		or fail("$where: not of the form \"struct NAME: MEMBER... # file\"");
	my ($kind, $name, $file) = ($1, $2, $5);
	my @names = split ' ', $4;
	$marked{"$kind $name"} = 1 if $3;
	for (@names) {
		next if !s/\?$//;
		fail("$where: $_: only enums, their constants and typedefs may be lacking") if $kind =~ /struct|union/;
		$marked{ $kind eq 'typedef' ? "typedef $_" : "constant $_" } = 1;
	}
	fail("$where: $name: only enums, their constants and typedefs may be lacking")
		if $kind =~ /struct|union/ && $marked{"$kind $name"};
	fail("$where: $kind needs a name") if !defined $name && $kind =~ /struct|union/;
	fail("$where: not \"typedef: NAME...\"") if defined $name && $kind eq 'typedef';
	my $tag = defined $name ? "$kind $name" : $kind;

	$body .= "\n$push\n" if $kind =~ /struct|union/ && !$records++;
	$body .= "\n" if $kind ne 'typedef' || $file ne $last_file;
	$body .= "/* $file */\n" if $file ne $last_file;
	$last_file = $file;
	for ($kind eq 'typedef' ? map { "typedef $_" } @names : $tag eq 'enum' ? () : $tag) {
		fail("$where: $_ is listed in line $listed{$_} already") if $listed{$_};
		$listed{$_} = $.;
	}
	if ($kind eq 'typedef') {
		for (@names) {
			$body .= extract("typedef $_");
			$known{"typedef $_"} = 1;
		}
	} else {
		$body .= extract($tag, @names);
		$known{$tag} = 1;
	}
}
$body .= "\n#pragma clang attribute pop\n" if $records;
if (defined $lacking_file) {
	open(my $out, '>', $lacking_file) or fail("$lacking_file: $!");
	print $out map { "$_\n" } @lacking;
	close($out) or fail("$lacking_file: $!");
}
my $forwards = join '', map { "$_;\n" } sort grep { !$known{$_} } keys %forward;
$forwards = "\n/* only pointed to */\n$forwards" if $forwards;

print <<END;
/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The kernel types that the BPF programs touch, and of each only the members they read.
 * CO-RE finds every member's real place on the machine it runs on (preserve_access_index).
 *
 * Made by vmlinux/generate from vmlinux/types.txt and the BTF of a kernel: do not edit.
 * Kernel: $kernel
 */
#ifndef __VMLINUX_H__
#define __VMLINUX_H__
$forwards$body
#endif /* __VMLINUX_H__ */
END
