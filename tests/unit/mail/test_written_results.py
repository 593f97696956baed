"""Authentication-Results as public mail archives and other projects' tests show them, with the
domains changed: each of these proves that the mail is from example.com.

Exchange names no server of its own; here it stands behind one that does.
"""

import pytest

from deskhand.mail.authentication import MailTrust, principal_of
from deskhand.model.principal import PrincipalKind
from tests.unit.mail.test_authentication import mail

TRUST = MailTrust(servers=["mx.shop.example"])
WRITTEN = {
    "Gmail": (
        "mx.shop.example; dkim=pass header.i=@example.com header.s=corp-2018-07-02 "
        "header.b=lhk5qU4z; spf=pass (google.com: domain of a.b@example.com designates "
        "156.151.31.86 as permitted sender) smtp.mailfrom=a.b@example.com; dmarc=pass "
        "(p=NONE sp=NONE dis=NONE) header.from=example.com"
    ),
    "Gmail, an envelope in quotes": (
        "mx.shop.example; dkim=pass header.i=@example.com header.s=facebook "
        "header.b=N5uvdv1C; spf=pass (google.com: domain of prvs=1078cbd532=s@example.com"
        " designates 67.231.145.42 as permitted sender) "
        'smtp.mailfrom="prvs=1078cbd532=s@example.com"; dmarc=pass (p=NONE sp=NONE '
        "dis=NONE) header.from=example.com"
    ),
    "Gmail, no selector": (
        "mx.shop.example; dkim=pass header.i=@example.com; spf=pass (google.com: domain "
        "of a@example.com designates 2607:f8b0:4003:c06::22c as permitted sender) "
        "smtp.mailfrom=a@example.com; dmarc=pass (p=NONE dis=NONE) "
        "header.from=example.com"
    ),
    "Exchange": (
        "mx.shop.example; spf=pass (sender IP is 165.204.84.17) "
        "smtp.mailfrom=example.com; dkim=none (message not signed) "
        "header.d=none;dmarc=pass action=none header.from=example.com;"
    ),
    "Exchange, compauth": (
        "mx.shop.example; spf=pass (sender IP is 52.128.44.60) "
        "smtp.mailfrom=em.example.com; dkim=pass (signature was verified) "
        "header.d=example.com;dkim=pass (signature was verified) "
        "header.d=mailersys.com;dmarc=pass action=none "
        "header.from=example.com;compauth=pass reason=100"
    ),
    "Yahoo": (
        "mx.shop.example; dkim=pass header.i=@mail.example.com header.s=s2048; spf=pass "
        "smtp.mailfrom=bounces.example-esp.net; dmarc=pass(p=REJECT) "
        "header.from=example.com;"
    ),
    "OVH": (
        "mx.shop.example; arc=none (no signatures found); dkim=none (no signatures "
        "found); dmarc=pass policy.published-domain-policy=quarantine "
        "policy.applied-disposition=none policy.evaluated-disposition=none "
        "(p=quarantine,d=none,d.eval=none) policy.policy-from=p header.from=example.com; "
        "spf=pass smtp.mailfrom=k_c@example.com smtp.helo=mx01.example.com; x-tls=pass "
        "smtp.version=TLSv1.2 smtp.cipher=ECDHE-RSA-AES256-GCM-SHA384 smtp.bits=256"
    ),
    "Fastmail": (
        "mx.shop.example; x-csa=none; x-me-sender=none; x-ptr=pass "
        "smtp.helo=msg-1.example.com policy.ptr=msg-1.example.com; bimi=skipped (DMARC "
        "Policy is not at enforcement); arc=none (no signatures found); dkim=pass "
        "(1024-bit rsa key sha256) header.d=example.com header.i=@example.com "
        "header.b=KpmcEAgT header.a=rsa-sha256 header.s=mailo x-bits=1024; dmarc=pass "
        "policy.published-domain-policy=none policy.applied-disposition=none "
        "policy.evaluated-disposition=none (p=none,d=none,d.eval=none) "
        "policy.policy-from=p header.from=example.com; iprev=pass "
        "smtp.remote-ip=213.182.54.11 (msg-1.example.com); spf=pass "
        "smtp.mailfrom=alice@example.com smtp.helo=msg-1.example.com"
    ),
    "freedesktop.org": (
        "mx.shop.example; dkim=pass (2048-bit key; unprotected) header.d=example.com "
        'header.i=@example.com header.b="Cj0+sm9f"; dkim-atps=neutral'
    ),
    "ozlabs.org, DKIM": (
        "mx.shop.example; dkim=pass (2048-bit key; unprotected) header.d=example.com "
        "header.i=@example.com header.a=rsa-sha256 header.s=Intel header.b=RgD2Zt5/; "
        "dkim-atps=neutral"
    ),
    "ozlabs.org, SPF": (
        "mx.shop.example; spf=pass (sender SPF authorized) smtp.mailfrom=example.com "
        "(client-ip=134.134.136.20; helo=mga02.example.com; "
        "envelope-from=lkp@example.com; receiver=<UNKNOWN>)"
    ),
    "rspamd": (
        "mx.shop.example; dkim=pass header.d=example.com header.s=sel1 header.b=AbCd1234;"
        " dmarc=pass (policy=none) header.from=example.com; spf=pass (mx.shop.example: "
        "domain of news@example.com designates 203.0.113.9 as permitted sender) "
        "smtp.mailfrom=news@example.com"
    ),
}


@pytest.mark.parametrize("service", WRITTEN)
def test_what_services_write_proves_the_sender(service: str) -> None:
    principal = principal_of(mail(WRITTEN[service]), TRUST)
    assert (principal.kind, principal.address) == (PrincipalKind.SENDER, "ann@example.com")
