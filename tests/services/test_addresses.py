"""Which addresses may be asked: every form of a private one is refused (quirk G1)."""

from ipaddress import IPv4Address, IPv6Address, ip_address

import pytest
from hypothesis import given
from hypothesis import strategies as st
from signalbox.services.addresses import Allowance, ascii_host, is_public

PRIVATE = [
    "0.0.0.0",
    "10.1.2.3",
    "100.64.0.1",
    "127.0.0.1",
    "127.255.255.255",
    "169.254.169.254",
    "172.16.0.1",
    "172.31.255.255",
    "192.0.0.8",
    "192.0.2.1",
    "192.88.99.1",
    "192.168.1.1",
    "198.18.0.1",
    "198.51.100.1",
    "203.0.113.1",
    "224.0.0.1",
    "239.255.255.250",
    "240.0.0.1",
    "255.255.255.255",
    "::",
    "::1",
    "::7f00:1",
    "fe80::1",
    "fec0::1",
    "fc00::1",
    "fd12:3456::1",
    "ff02::1",
    "2001:db8::1",
    "3fff::1",
    "2002:7f00:1::",
    "2002:808:808::1",
    "2001:0:4136:e378:8000:63bf:3fff:fdd2",
    "64:ff9b:1::7f00:1",
    "100::1",
    "5f00::1",
    "::ffff:127.0.0.1",
    "::ffff:7f00:1",
    "::ffff:169.254.169.254",
    "64:ff9b::a00:1",
    "64:ff9b::169.254.169.254",
]
PUBLIC = [
    "1.1.1.1",
    "8.8.8.8",
    "93.184.216.34",
    "172.32.0.1",
    "100.128.0.1",
    "2606:4700::1111",
    "2a00:1450:4001::1",
    "::ffff:8.8.8.8",
    "64:ff9b::808:808",
]

v4 = st.integers(0, 2**32 - 1).map(IPv4Address)
v6 = st.integers(0, 2**128 - 1).map(IPv6Address)


@pytest.mark.parametrize("text", PRIVATE)
def test_g1_what_is_not_public_is_refused(text: str):
    """Private, loopback, link-local, shared, reserved, multicast, documentation, and IPv4 in any wrapping."""
    assert not is_public(ip_address(text))
    assert not Allowance().permits("example.org", ip_address(text))


@pytest.mark.parametrize("text", PUBLIC)
def test_what_is_public_is_asked(text: str):
    """The public internet stays whole."""
    assert is_public(ip_address(text))
    assert Allowance().permits("example.org", ip_address(text))


@given(v4 | v6)
def test_g1_nothing_public_is_special(address: IPv4Address | IPv6Address):
    """What is let through is global for the standard library as well, and no multicast."""
    if is_public(address):
        inner = IPv4Address(int(address) & 0xFFFFFFFF) if address in V4_INSIDE else address
        assert inner.is_global
        assert not inner.is_multicast
        assert not inner.is_loopback
        assert not inner.is_link_local


class _V4Inside:
    def __contains__(self, address: object) -> bool:
        return isinstance(address, IPv6Address) and int(address) >> 32 in (0xFFFF, 0x64FF9B << 64)


V4_INSIDE = _V4Inside()


@given(v4)
def test_g1_a_wrapped_address_is_judged_like_the_one_inside(address: IPv4Address):
    """::ffff: and NAT64 lead to the IPv4 address in them."""
    for prefix in (0xFFFF << 32, 0x64FF9B << 96):
        assert is_public(IPv6Address(prefix | int(address))) == is_public(address)


@given(v4)
def test_g1_6to4_is_never_public(address: IPv4Address):
    """2002::/16 wraps any IPv4 address, and nobody uses it any more."""
    assert not is_public(IPv6Address((0x2002 << 112) | (int(address) << 80)))


@pytest.mark.parametrize(
    ("host", "sent"),
    [
        ("example.org", "example.org"),
        ("EXAMPLE.org.", "example.org"),
        ("bücher.example", "xn--bcher-kva.example"),
        ("ｅｘａｍｐｌｅ.org", "example.org"),
        ("127.0.0.1", "127.0.0.1"),
        ("::1", "::1"),
        ("0:0:0:0:0:ffff:7f00:1", "::ffff:7f00:1"),
        ("a_b.example", "a_b.example"),
    ],
)
def test_a_host_is_sent_in_one_form(host: str, sent: str):
    """Lower case, ASCII, no dot at the end."""
    assert ascii_host(host) in (sent, sent.replace("::ffff:7f00:1", "::ffff:127.0.0.1"))


@pytest.mark.parametrize(
    "host",
    [
        "2130706433",
        "0x7f000001",
        "0x7f.1",
        "0177.0.0.1",
        "127.1",
        "127.0.0.01",
        "1.2.3.4.5",
        "①②⑦.⓪.⓪.①",
        "１２７.0.0.1",
        "fe80::1%eth0",
        "::1]",
        "",
        ".",
        "a..b",
        "-a.example",
        "a b",
        "a/b",
        "ex%61mple.org",
        "x" * 64 + ".org",
        "a" * 254,
        "example.0x7f",
        "1e100.1",
        "\x00",
    ],
)
def test_g1_odd_forms_of_an_address_are_no_host(host: str):
    """Numbers in other bases, short forms and escapes are read differently by different resolvers."""
    assert ascii_host(host) is None


@given(v4)
def test_g1_a_number_is_no_host(address: IPv4Address):
    """Whatever its base, an IPv4 address without its four plain numbers is refused."""
    number = int(address)
    octets = [number >> shift & 255 for shift in (24, 16, 8, 0)]
    forms = [str(number), hex(number), f"0{number:o}", ".".join(hex(one) for one in octets)]
    forms += [f"{octets[0]}.{number & 0xFFFFFF}", f"{octets[0]}.{octets[1]}.{number & 0xFFFF}"]
    assert [form for form in forms if ascii_host(form) is not None] == []
    assert ascii_host(str(address)) == str(address)


@given(st.text(max_size=30))
def test_any_text_is_a_host_or_not(text: str):
    """No text breaks it, and what comes out is plain and stays as it is."""
    host = ascii_host(text)
    if host is not None:
        assert host.isascii()
        assert host == host.lower()
        assert ascii_host(host) == host


def test_the_operator_may_allow_more():
    """A network holds whoever's name leads there, a host wherever its name leads; nothing else is opened."""
    allowed = Allowance.of(["10.0.0.0/8", "Wiki.Intern", "192.168.1.5", "fd00::/8", "[::1]", "127.0.0.1/8"])
    assert allowed.permits("any.example", ip_address("10.9.9.9"))
    assert allowed.permits("any.example", ip_address("::ffff:10.9.9.9"))
    assert allowed.permits("any.example", ip_address("fd00::1"))
    assert allowed.permits("any.example", ip_address("127.0.0.1"))
    assert not allowed.permits("any.example", ip_address("192.168.1.6"))
    assert allowed.permits("wiki.intern", ip_address("192.168.1.6"))
    assert allowed.names("wiki.intern")
    assert allowed.names("10.0.0.1")
    assert not allowed.names("any.example")


@pytest.mark.parametrize(
    "address",
    [
        "169.254.169.254",
        "fe80::1",
        "fd00:ec2::254",
        "100.100.100.200",
        "168.63.129.16",
        "::ffff:169.254.169.254",
        "64:ff9b::a9fe:a9fe",
        "0.0.0.0",
        "224.0.0.1",
    ],
)
def test_g1_nobody_may_allow_what_clouds_tell_secrets_at(address: str):
    """Metadata services and link-local stay closed, however wide the operator opens."""
    wide = Allowance.of(["0.0.0.0/0", "::/0", "metadata.example"])
    assert not wide.permits("metadata.example", ip_address(address))


@pytest.mark.parametrize("entry", ["*", "http://wiki.intern", "wiki.intern:8080", "10.0.0.0/33", "a/b", ""])
def test_an_entry_that_is_no_host_and_no_network_is_told(entry: str):
    """A setting that cannot work stops the start with its words."""
    with pytest.raises(ValueError, match="neither a host name nor a network"):
        Allowance.of([entry])
