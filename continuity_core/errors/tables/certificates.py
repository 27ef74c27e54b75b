"""Faults of trust between client and server."""

from __future__ import annotations

from continuity_core.errors.matching import said

CERTIFICATES = (
    *said(
        "TLS",
        "certificate verify failed",
        "certificate_verify_failed",
        "self signed certificate",
        "self-signed certificate",
        "unable to verify the first certificate",
        "unable to get local issuer certificate",
        "certificate has expired",
        "cert_has_expired",
        "unable_to_verify_leaf",
        "depth_zero_self_signed",
        "unknownissuer",
        "certificate signed by unknown authority",
        "x509:",
        "pkix path",
        "valid certification path",
        "remote certificate is invalid",
        "hostname/ip does not match",
        "wrong version number",
        "wrong_version_number",
    ),
)
"""Faults of trust, which do not go away; looked for before the faults of TLS that do."""
