# SPDX-License-Identifier: GPL-2.0-only
"""
filters.py CASE PCAP ALL TIMED - writes a capture with segments around the bytes of a command of
tests/unit/cli/test_report_pcap.c, and the numbers of the packets that a filter for them has to show:
into ALL those of tcpdump, into TIMED those of Wireshark, whose filter has a time as well. Prints how
many packets there are.

What a segment has of the ranges is counted byte by byte.
"""
import ipaddress
import struct
import sys

HOST, TARGET = 40001, 4420
BEGAN = 1704067200 + 1  # and it took a second
V4 = ("192.0.2.7", "192.0.2.1")
V6 = ("2001:db8::7", "2001:db8::1")
# Addresses, and the ranges of what the host sends and of what the target sends: (begin, length). None: any byte is.
# NVMe/TCP 1.0: capsule 72, other headers 24, each digest 4 bytes.
CASES = {
    "inline_write": (V4, [(0xFFFFFF00, 72 + 4 + 4096 + 4)], [(5, 24 + 4)]),
    # At least 4096 bytes are in each data PDU but the last one.
    "r2t_write": (
        V6,
        [(10000000, 72 + 4), (20000000, 131072 + 33 * (24 + 4 + 4))],
        [(30000000, 24 + 4), (30000100, 24 + 4)],
    ),
    "read_without_the_host": (V4, None, [(3000000000, 24 + 4 + 4096 + 4 + 24 + 4)]),
}


def has_some(ranges, seq, size):
    if ranges is None:
        return True
    return any((seq + i - begin) % 2**32 < length for begin, length in ranges for i in range(size))


def packet(addresses, ports, seq, size, ip_options, tcp_options):
    source, dest = (ipaddress.ip_address(a).packed for a in addresses)
    tcp = struct.pack(">HHIIBBHHH", *ports, seq % 2**32, 1, (5 + tcp_options) << 4, 0x10, 1000, 0, 0)
    tcp += b"\1" * 4 * tcp_options + b"\x7f" * size
    if len(source) == 4:
        head = 5 + ip_options
        ip = struct.pack(">BBHHHBBH", 0x40 | head, 0, 4 * head + len(tcp), 1, 0, 64, 6, 0)
        return b"\0" * 12 + b"\x08\0" + ip + source + dest + b"\1" * 4 * ip_options + tcp
    ip = struct.pack(">IHBB", 6 << 28, len(tcp), 6, 64) + source + dest
    return b"\0" * 12 + b"\x86\xdd" + ip + tcp


def segments(ranges):
    """Sequence number and size of segments around the ranges; none is an acknowledgement alone."""
    for begin, length in ranges or [(7, 100)]:
        yield from (
            (begin - 1000, 1000),
            (begin - 1000, 1001),
            (begin - 60000, 60000),
            (begin - 60000, 65000),
            (begin - 1, 1),
            (begin, 1),
            (begin, 1448),
            (begin + length - 1, 10),
            (begin + length, 10),
            (begin + 2**31, 100),
            (begin - 2**31, 1448),
            (begin + length + 70000, 1000),
            # An acknowledgement before them.
            (begin - 500, 0),
        )


def main():
    case, pcap, all_shown, timed = sys.argv[1:]
    addresses, to_target, to_host = CASES[case]
    packets, shown = [], []
    for to, ranges in ((True, to_target), (False, to_host)):
        # A segment of the other direction may have the same numbers.
        for seq, size in [*segments(to_target), *segments(to_host)]:
            for ip_options, tcp_options in ((0, 0), (0, 3), (2, 8)):
                ends = addresses if to else addresses[::-1]
                ports = (HOST, TARGET) if to else (TARGET, HOST)
                packets.append((packet(ends, ports, seq, size, ip_options, tcp_options), has_some(ranges, seq, size)))
            other = (HOST + 1, TARGET) if to else (TARGET, HOST + 1)
            packets.append((packet(ends, other, seq, size, 0, 0), False))
    with open(pcap, "wb") as f:
        f.write(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 262144, 1))
        for again in (False, True):
            for data, is_shown in packets:
                shown.append(is_shown)
                # Those that come again are an hour late. A capture mostly has the beginnings of packets only.
                f.write(struct.pack("<IIII", BEGAN + 3600 * again, len(shown), min(len(data), 200), len(data)))
                f.write(data[:200])
    for name, upto in ((all_shown, len(shown)), (timed, len(packets))):
        with open(name, "w") as f:
            f.writelines(f"{i + 1}\n" for i in range(upto) if shown[i])
    print(len(shown))


main()
