import type { ActivityAction } from '../events/activity-event.ts';
import type { ANY, EventSearchTree } from './tree.ts';

/** The parts of a search. All but `to` are allowed once; `subject` allows no other part. */
export type SearchPart =
  'text' | 'subject' | 'to' | 'since' | 'until' | 'type' | 'template' | 'sequence' | 'from';

/** A template by its name or title. Both are written the same way. */
export type TemplateChoice = { readonly name: string } | { readonly title: string };

/** A sequence by its name or its `_id`. A name is written in quotes, an `_id` without. */
export type SequenceChoice = { readonly name: string } | { readonly id: string };

interface Parts<Used extends SearchPart> {
  /**
   * Adds free text, which searches subjects and recipients. May be repeated to append words.
   *
   * @throws {SearchSyntaxError} if it is blank, holds a quote, or a word in it would be read as an
   * operator; or after `subject`
   */
  text(words: string): EventSearch<Used | 'subject'>;
  /**
   * Matches the message subject exactly. This is the whole search, since the spec allows an exact
   * subject only if the whole string is in quotes.
   *
   * @throws {SearchSyntaxError} if it is blank or holds a quote; or after any other part
   */
  subject(exact: string): EventSearch<SearchPart>;
  /**
   * Adds a recipient: an email address, a domain, or a name. Several are combined with "or".
   *
   * @throws {SearchSyntaxError} if it is blank or holds a quote; or after `subject`
   */
  to(recipient: string): EventSearch<Used | 'subject'>;
  /**
   * Finds events since this day.
   *
   * @param date `YYYY-MM-DD`, or a Date, whose day in UTC counts
   * @throws {SearchSyntaxError} if it is not a calendar date; the second time, or after `subject`
   */
  since(date: string | Date): EventSearch<Used | 'subject' | 'since'>;
  /**
   * Finds events until this day.
   *
   * @param date `YYYY-MM-DD`, or a Date, whose day in UTC counts
   * @throws {SearchSyntaxError} if it is not a calendar date; the second time, or after `subject`
   */
  until(date: string | Date): EventSearch<Used | 'subject' | 'until'>;
  /**
   * Finds one type of event.
   *
   * @throws {SearchSyntaxError} if it is none of the seven types; the second time, or after `subject`
   */
  type(action: ActivityAction): EventSearch<Used | 'subject' | 'type'>;
  /**
   * Finds messages that used a template: `'Intro'`, `{ name: 'Intro' }`, `{ title: 'Hello' }`, or
   * `ANY`.
   *
   * @throws {SearchSyntaxError} if it is blank, holds a quote or is the text `*`; the second time, or
   * after `subject`
   */
  template(
    template: string | TemplateChoice | typeof ANY,
  ): EventSearch<Used | 'subject' | 'template'>;
  /**
   * Finds messages that a sequence sent: `{ name: 'Welcome' }`, `{ id: '…' }`, or `ANY`. A string is
   * taken for an id if it has 24 hex digits, else for a name.
   *
   * @throws {SearchSyntaxError} if it is blank, holds a quote or is the text `*`, or if an id holds a
   * space; the second time, or after `subject`
   */
  sequence(
    sequence: string | SequenceChoice | typeof ANY,
  ): EventSearch<Used | 'subject' | 'sequence'>;
  /**
   * Finds messages sent by the caller (`'myself'`), a team member (an email address), or a team (its
   * name).
   *
   * @throws {SearchSyntaxError} if it is blank or holds a quote; the second time, or after `subject`
   */
  from(sender: string): EventSearch<Used | 'subject' | 'from'>;
}

/** A search that can be sent, whatever parts it has. */
export interface AnyEventSearch {
  /** The parts so far. */
  readonly tree: EventSearchTree;
  /** The text for the `search` parameter, empty for an empty search. Never throws. */
  toString(): string;
}

/**
 * A search under construction. Each method returns a new search and leaves this one unchanged. A
 * method that can no longer be used is removed from the type, so a second `since` does not compile.
 */
export type EventSearch<Used extends SearchPart = never> = Omit<Parts<Used>, Used> & AnyEventSearch;

/** The builder with every method, as it is at run time. */
export type EveryPart = Parts<never> & AnyEventSearch;
