import type { ActivityAction } from '../events/activity-event.ts';

/** Any template, or any sequence: `*` in the text. */
export const ANY: unique symbol = Symbol.for('@call-webhooks/client/ANY');

/**
 * One `to:` operator. The text does not say which of the spec's three forms is meant, so `kind` is
 * guessed from the value:
 * - `email`: one `@` with text on both sides. Compare it with the whole address.
 * - `domain`: dotted letters, such as `example.com`. Compare it with the part after the `@`.
 * - `name`: anything else. Compare it with the display name, not with the local part.
 *
 * All three also cover cc and bcc recipients.
 */
export interface ToTerm {
  readonly kind: 'email' | 'domain' | 'name';
  readonly value: string;
}

/**
 * The value of `template:` or `sequence:`: `*`, or a name, title or id. The text does not tell a name
 * from an id, so `form` is there only if a builder was told: ids are written bare, names in quotes.
 */
export type NamedTerm =
  | { readonly kind: 'any' }
  | { readonly kind: 'named'; readonly value: string; readonly form?: 'id' | 'name' };

/** The value of `from:`: the caller, the email address of a team member, or else a team's name. */
export type FromTerm =
  | { readonly kind: 'myself' }
  | { readonly kind: 'email'; readonly value: string }
  | { readonly kind: 'team'; readonly value: string };

/**
 * A search of `GET /v1/events`, as `parseEventSearch` reads it and `formatEventSearch` writes it.
 * Parts that the search does not have are absent. Different parts are combined with "and".
 */
export interface EventSearchTree {
  /** Free text: searches message subjects and recipients. Words are separated by one space. */
  readonly text?: string;
  /** The exact subject, written in double quotes. It is the whole search: no other part goes with it. */
  readonly subject?: string;
  /** Recipients, combined with "or". Empty if there are none. */
  readonly to: readonly ToTerm[];
  /** `YYYY-MM-DD`, a calendar date. */
  readonly since?: string;
  /** `YYYY-MM-DD`, a calendar date. The spec does not say whether it includes the day itself. */
  readonly until?: string;
  readonly type?: ActivityAction;
  readonly template?: NamedTerm;
  readonly sequence?: NamedTerm;
  readonly from?: FromTerm;
}

/** The operators, in the order of the canonical text. */
export const OPERATORS = ['to', 'since', 'until', 'type', 'template', 'sequence', 'from'] as const;

/** The name of an operator, in lower case as in the spec. `To:` is plain text. */
export type OperatorName = (typeof OPERATORS)[number];
