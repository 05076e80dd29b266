import type { ActivityAction } from '../events/actions.ts';

/** Stands for `*`: every template, or every sequence. */
export const ANY: unique symbol = Symbol.for('@call-webhooks/client/ANY');

/**
 * One `to:` operator. The text has a single form; `kind` says which of the spec's three readings
 * its value has by its looks:
 * - `email`: one `@` with something on both sides. Compare with the whole address.
 * - `domain`: dotted letters, such as `example.com`. Compare with the part after the `@`.
 * - `name`: anything else. Compare with the display name, not with the local part.
 *
 * All three also cover cc and bcc recipients.
 */
export interface ToTerm {
  readonly kind: 'email' | 'domain' | 'name';
  readonly value: string;
}

/** `template:` or `sequence:`: `*`, or one of them. The value may be a name, a template's title or a sequence's `_id`; the text does not tell which. */
export type NamedTerm =
  { readonly kind: 'any' } | { readonly kind: 'named'; readonly value: string };

/** `from:`: the caller, a team member's address (it holds an `@`), or else a team's name. */
export type FromTerm =
  | { readonly kind: 'myself' }
  | { readonly kind: 'email'; readonly value: string }
  | { readonly kind: 'team'; readonly value: string };

/**
 * A search of `GET /v1/events`, as `parseEventSearch` reads it and `formatEventSearch` writes it.
 * A part that the search does not have is absent. Different parts are combined with "and".
 */
export interface EventSearchTree {
  /** Free text: searches message subjects and recipients. Words are separated by one space. */
  readonly text?: string;
  /** The exact subject, written in double quotes. Never together with `text`. */
  readonly subject?: string;
  /** Recipients, combined with "or". Empty when there are none. */
  readonly to: readonly ToTerm[];
  /** `YYYY-MM-DD`, a date of the calendar. */
  readonly since?: string;
  /** `YYYY-MM-DD`, a date of the calendar. Whether the day itself is included: the spec does not say. */
  readonly until?: string;
  readonly type?: ActivityAction;
  readonly template?: NamedTerm;
  readonly sequence?: NamedTerm;
  readonly from?: FromTerm;
}

/** The operators, in the order in which they are written. */
export const OPERATORS = ['to', 'since', 'until', 'type', 'template', 'sequence', 'from'] as const;

/** The name of an operator. Names are lower-case, as in the spec; `To:` is plain text. */
export type OperatorName = (typeof OPERATORS)[number];
