import type { ActivityAction } from '../events/actions.ts';
import type { ANY, EventSearchTree } from './tree.ts';

/** What a search may have at most once; `text` and `subject` exclude each other. */
export type SearchPart =
  'text' | 'subject' | 'since' | 'until' | 'type' | 'template' | 'sequence' | 'from';

interface Parts<Used extends SearchPart> {
  /**
   * Adds free text, which searches subjects and recipients. May be repeated: words are appended.
   *
   * @throws {SearchSyntaxError} when it is blank, holds a quote, or a word in it would be read as an
   * operator; or after `subject`
   */
  text(words: string): EventSearch<Used | 'subject'>;
  /**
   * Matches the message subject exactly.
   *
   * @throws {SearchSyntaxError} when it is blank or holds a quote; after `text` or `subject`
   */
  subject(exact: string): EventSearch<Used | 'text' | 'subject'>;
  /**
   * Adds a recipient: an exact address, a domain, or a name. Repeated ones are combined with "or".
   *
   * @throws {SearchSyntaxError} when it is blank or holds a quote
   */
  to(recipient: string): EventSearch<Used>;
  /**
   * From this day on.
   *
   * @param date `YYYY-MM-DD`, or a Date, of which the day in UTC counts
   * @throws {SearchSyntaxError} when it is no date of the calendar, or `since` was given before
   */
  since(date: string | Date): EventSearch<Used | 'since'>;
  /**
   * Up to this day.
   *
   * @param date `YYYY-MM-DD`, or a Date, of which the day in UTC counts
   * @throws {SearchSyntaxError} when it is no date of the calendar, or `until` was given before
   */
  until(date: string | Date): EventSearch<Used | 'until'>;
  /**
   * Only one type of event.
   *
   * @throws {SearchSyntaxError} when it is none of the seven, or `type` was given before
   */
  type(action: ActivityAction): EventSearch<Used | 'type'>;
  /**
   * Messages that used the template of this name or title, or `ANY` template.
   *
   * @throws {SearchSyntaxError} when it is blank, holds a quote or is the text `*`; or a second time
   */
  template(name: string | typeof ANY): EventSearch<Used | 'template'>;
  /**
   * Messages sent automatically by the sequence of this name or `_id`, or by `ANY` sequence.
   *
   * @throws {SearchSyntaxError} when it is blank, holds a quote or is the text `*`; or a second time
   */
  sequence(nameOrId: string | typeof ANY): EventSearch<Used | 'sequence'>;
  /**
   * Messages sent by the caller (`'myself'`), a team (its name) or a team member (an address).
   *
   * @throws {SearchSyntaxError} when it is blank or holds a quote, or `from` was given before
   */
  from(sender: string): EventSearch<Used | 'from'>;
}

/** A search that can be sent, whatever parts it has. */
export interface AnyEventSearch {
  /** The parts so far. */
  readonly tree: EventSearchTree;
  /** The text for the `search` parameter; empty when nothing was asked for. Never throws. */
  toString(): string;
}

/**
 * A search under construction. Each method returns a new one and leaves this one as it is. What was
 * used up is gone from the type, so a second `since` does not compile.
 */
export type EventSearch<Used extends SearchPart = never> = Omit<Parts<Used>, Used> & AnyEventSearch;

/** The builder with every method on it, as it is at run time. */
export type EveryPart = Parts<never> & AnyEventSearch;
