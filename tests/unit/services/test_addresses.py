"""Addresses that may be fetched; every form of a private address is rejected (quirk G1)."""

import asyncio
from ipaddress import IPv4Address, IPv4Network, IPv6Address, ip_address

import pytest
from hypothesis import given
from hypothesis import strategies as st
from signalbox.core.errors import ToolError
from signalbox.services.addresses import Allowance, ascii_host, is_public
from signalbox.services.fetch import PageFetcher

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
def test_g01_private_addresses_are_rejected(text: str):
    """Private, loopback, link-local, shared, reserved, multicast and documentation addresses, also in a wrapping."""
    assert not is_public(ip_address(text))
    assert not Allowance().permits("example.org", ip_address(text))


@pytest.mark.parametrize("text", PUBLIC)
def test_public_addresses_are_allowed(text: str):
    """No public network is excluded."""
    assert is_public(ip_address(text))
    assert Allowance().permits("example.org", ip_address(text))


@given(v4 | v6)
def test_g01_nothing_public_is_special(address: IPv4Address | IPv6Address):
    """A public address is also global for the standard library, and not multicast."""
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
def test_g01_a_wrapped_address_is_judged_like_the_one_inside(address: IPv4Address):
    """::ffff: and NAT64 addresses count as the IPv4 address inside."""
    for prefix in (0xFFFF << 32, 0x64FF9B << 96):
        assert is_public(IPv6Address(prefix | int(address))) == is_public(address)


@given(v4)
def test_g01_6to4_is_never_public(address: IPv4Address):
    """2002::/16 wraps any IPv4 address and is obsolete."""
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
    """Hosts become lower-case ASCII without a dot at the end."""
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
def test_g01_odd_forms_of_an_address_are_no_host(host: str):
    """Other bases, short forms and escapes are rejected, because resolvers interpret them differently."""
    assert ascii_host(host) is None


@given(v4)
def test_g01_a_number_is_no_host(address: IPv4Address):
    """An IPv4 address that is not four decimal numbers is rejected."""
    number = int(address)
    octets = [number >> shift & 255 for shift in (24, 16, 8, 0)]
    forms = [str(number), hex(number), f"0{number:o}", ".".join(hex(one) for one in octets)]
    forms += [f"{octets[0]}.{number & 0xFFFFFF}", f"{octets[0]}.{octets[1]}.{number & 0xFFFF}"]
    assert [form for form in forms if ascii_host(form) is not None] == []
    assert ascii_host(str(address)) == str(address)


@given(st.text(max_size=30))
def test_any_text_is_a_host_or_rejected(text: str):
    """No text raises, and the result is plain and stable."""
    host = ascii_host(text)
    if host is not None:
        assert host.isascii()
        assert host == host.lower()
        assert ascii_host(host) == host


def test_the_operator_may_allow_more():
    """A network allows every name that resolves into it, a host every address of its name."""
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
def test_g01_metadata_services_cannot_be_allowed(address: str):
    """Metadata services and link-local addresses stay rejected whatever the operator allows."""
    wide = Allowance.of(["0.0.0.0/0", "::/0", "metadata.example"])
    assert not wide.permits("metadata.example", ip_address(address))


@pytest.mark.parametrize("entry", ["*", "http://wiki.intern", "wiki.intern:8080", "10.0.0.0/33", "a/b", ""])
def test_an_invalid_entry_is_an_error(entry: str):
    """The error quotes the entry."""
    with pytest.raises(ValueError, match="neither a host name nor a network"):
        Allowance.of([entry])


# --- every form of an address that is not public ---

SPECIAL = st.sampled_from(
    [
        "0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24",
        "192.0.2.0/24", "192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24",
        "224.0.0.0/4", "240.0.0.0/4",
    ]
).flatmap(
    lambda text: st.integers(0, IPv4Network(text).num_addresses - 1).map(
        lambda offset: IPv4Network(text).network_address + offset
    )
)  # fmt: skip
SPECIAL_V6 = st.one_of(
    st.integers(0, 2**121 - 1).map(lambda n: (0xFC << 120) + n),  # fc00::/7, unique local
    st.integers(0, 2**118 - 1).map(lambda n: (0xFE80 << 112) + n),  # fe80::/10, link-local
    st.integers(0, 2**118 - 1).map(lambda n: (0xFEC0 << 112) + n),  # fec0::/10, site-local
    st.integers(0, 2**120 - 1).map(lambda n: (0xFF << 120) + n),  # multicast
    st.integers(0, 2**96 - 1),  # ::/32 with loopback, v4-compatible, mapped and translated
    st.integers(0, 2**96 - 1).map(lambda n: (0x2001 << 112) + n),  # Teredo
    st.integers(0, 2**112 - 1).map(lambda n: (0x2002 << 112) + n),  # 6to4
).map(IPv6Address)  # fmt: skip


@given(SPECIAL)
def test_g01_a_private_address_is_private_in_every_wrapping(address: IPv4Address):
    """Plain, v4-mapped, v4-compatible, translated (both prefixes), 6to4 and Teredo forms are not public."""
    number = int(address)
    wrapped = [0xFFFF << 32 | number, number, 0x64FF9B << 96 | number, 0x64FF9B0001 << 80 | number]
    wrapped += [0x2002 << 112 | number << 80, 0x20010000 << 96 | number ^ 0xFFFFFFFF]
    assert not is_public(address)
    assert [str(IPv6Address(form)) for form in wrapped if is_public(IPv6Address(form))] == []


@given(SPECIAL_V6)
def test_g01_a_special_v6_address_is_never_public(address: IPv6Address):
    """Unique local, link-local, multicast, embedded and tunnelled addresses are special unless their IPv4 is public."""
    inner = IPv4Address(int(address) & 0xFFFFFFFF)
    assert is_public(address) == (address in V4_INSIDE and is_public(inner))


DIGITS = "0123456789"
ALIKE = [
    dict(zip(DIGITS, look, strict=True)) for look in ("０１２３４５６７８９", "𝟎𝟏𝟐𝟑𝟒𝟓𝟔𝟕𝟖𝟗", "⓪①②③④⑤⑥⑦⑧⑨", "٠١٢٣٤٥٦٧٨٩")
]
DOTS = ".。．｡"


def shapes(number: int) -> list[str]:
    """Return the forms of an IPv4 address that some resolver accepts."""
    a, b, c, d = (number >> shift & 255 for shift in (24, 16, 8, 0))
    plain = f"{a}.{b}.{c}.{d}"
    forms = [str(number), hex(number), f"0{number:o}", f"0X{number:X}", f"{number + 2**32}", f"0x{number:016x}"]
    forms += [f"{a}.{number & 0xFFFFFF}", f"{a}.{b}.{number & 0xFFFF}", f"0{a:o}.{b}.{c}.{d}", f"{a:#x}.{b}.{c}.{d}"]
    forms += [f"{a:04d}.{b}.{c}.{d}", f"00{a:o}.0{b:o}.0{c:o}.0{d:o}", f"{a}.{b}.{c}.{d}.", f"{a}.{b}.{c}.{d}.."]
    forms += ["".join(look.get(one, one) for one in plain) for look in ALIKE]
    forms += [plain.replace(".", dot) for dot in DOTS[1:]]
    return [
        *forms,
        f"[::ffff:{plain}]",
        f"[::{plain}]",
        f"[64:ff9b::{plain}]",
        f"[::ffff:{number >> 16:x}:{number & 65535:x}]",
    ]


@given(
    SPECIAL,
    st.sampled_from(["", "user@", "user:pw@", "example.org@", "example.org%40"]),
    st.sampled_from(["", ":443", ":80"]),
)
def test_g01_no_spelling_of_a_private_address_is_fetched(address: IPv4Address, user: str, port: str):
    """No form of a private address, with or without user name and port, is connected to."""
    dialled: list[str] = []

    async def resolve(host: str, port: int) -> list[str]:
        dialled.append(host)
        return [str(address)]  # the resolver that understands every form

    async def asked() -> None:
        fetcher = PageFetcher(resolve=resolve)
        for form in shapes(int(address)):
            with pytest.raises(ToolError):
                await fetcher.fetch(f"https://{user}{form}{port}/")

    asyncio.run(asked())
    # What came as far as the resolver is an address in its one plain form, or a name that is no number.
    number = int(address)
    plain = {str(IPv6Address(prefix << 32 | number)) for prefix in (0, 0xFFFF, 0x64FF9B << 64)} | {str(address)}
    assert [host for host in dialled if host not in plain and not host.startswith("xn--")] == []


@given(SPECIAL, st.sampled_from(["{}.nip.io", "{}.sslip.io", "www.{}.xip.example", "a-{}.example", "{}.example."]))
def test_g01_wildcard_dns_names_are_judged_by_their_address(address: IPv4Address, name: str):
    """For names such as those of nip.io the resolved address is checked, not the name."""
    host = name.format(str(address).replace(".", "-" if "-" in name else "."))

    async def resolve(host: str, port: int) -> list[str]:
        return ["93.184.216.34", str(address)]

    async def asked() -> None:
        with pytest.raises(ToolError, match="not on the public internet"):
            await PageFetcher(resolve=resolve).fetch(f"https://{host}/")

    asyncio.run(asked())
