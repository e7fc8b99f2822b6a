//! Pure diagnosis: ledger, phases, causes, verdict.
