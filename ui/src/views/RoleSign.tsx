// The sign of a role: it tells roles apart without colour.

import { ROLE_WORDS } from "../charts/threadTree";
import type { Role } from "../data/page.gen";
import "./RoleSign.css";

const SIGNS: Readonly<Record<Role, string>> = {
  target: "\u25ce",
  generator: "\u25b6",
  dependency: "\u25c6",
  recorder: "\u25cf",
  rest: "\u25cb",
};

export function RoleSign({ role }: { readonly role: Role }) {
  return (
    <span class={`role-sign role-${role}`} role="img" aria-label={ROLE_WORDS[role]}>
      {SIGNS[role]}
    </span>
  );
}
