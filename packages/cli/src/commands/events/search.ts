import {
  ACTIVITY_ACTIONS,
  ANY,
  eventSearch,
  isActivityAction,
  type AnyEventSearch,
} from '@call-webhooks/client';
import { badInput } from '../../errors.ts';
import { didYouMean } from '../../input/did-you-mean.ts';

/** The search flags of `events`. */
export interface SearchOptions {
  readonly search?: string;
  readonly text?: string;
  readonly subject?: string;
  readonly to?: readonly string[];
  readonly since?: string;
  readonly until?: string;
  readonly type?: string;
  readonly template?: string;
  readonly sequence?: string;
  readonly sequenceId?: string;
  readonly from?: string;
}

const PARTS = [
  'text',
  'subject',
  'to',
  'since',
  'until',
  'type',
  'template',
  'sequence',
  'sequenceId',
  'from',
] as const;

type Part = (typeof PARTS)[number];
const FLAGS: Partial<Record<Part, string>> = { sequenceId: 'sequence-id' };

/**
 * The search that the flags describe. `--search` is sent as it is.
 * @throws SearchSyntaxError for what the search language cannot express
 * @throws CliError 2 for flags that exclude each other
 */
export function searchOf(options: SearchOptions): string | AnyEventSearch | undefined {
  const given = PARTS.filter((part) => options[part] !== undefined);
  const flags = (parts: readonly Part[]) => parts.map((part) => `--${FLAGS[part] ?? part}`);
  if (options.search !== undefined) {
    if (given.length > 0)
      throw badInput(
        `--search cannot be combined with ${flags(given).join(', ')}.`,
        'Write the operators into the search: --search "to:example.com type:opened"',
      );
    return options.search;
  }
  const others = given.filter((part) => part !== 'subject');
  if (options.subject !== undefined && others.length > 0)
    throw badInput(
      `--subject cannot be combined with ${flags(others).join(', ')}.`,
      'An exact subject is the whole search. To combine words with other flags, use --text.',
    );
  return given.length === 0 ? undefined : buildSearch(options);
}

// The type of the builder tracks which parts were used. Here each flag is used once at most.
function buildSearch(options: SearchOptions): AnyEventSearch {
  const { text, subject, to = [], since, until, type, template, sequence, from } = options;
  const { sequenceId } = options;
  const empty: unknown = eventSearch();
  let search = empty as Builder;
  if (text !== undefined) search = search.text(text);
  if (subject !== undefined) search = search.subject(subject);
  for (const recipient of to) search = search.to(recipient);
  if (since !== undefined) search = search.since(since);
  if (until !== undefined) search = search.until(until);
  if (type !== undefined) search = search.type(actionOf(type));
  if (template !== undefined) search = search.template(template === '*' ? ANY : template);
  if (sequence !== undefined) search = search.sequence(sequence === '*' ? ANY : { name: sequence });
  if (sequenceId !== undefined) search = search.sequence({ id: sequenceId });
  return from === undefined ? search : search.from(from);
}

type Start = ReturnType<typeof eventSearch>;
type Builder = AnyEventSearch & {
  [Part in Exclude<keyof Start, keyof AnyEventSearch>]: (
    ...value: Parameters<Start[Part]>
  ) => Builder;
};

function actionOf(given: string) {
  if (isActivityAction(given)) return given;
  throw badInput(
    `There is no event type ${given}.`,
    didYouMean(given, ACTIVITY_ACTIONS, `Types: ${ACTIVITY_ACTIONS.join(', ')}.`),
  );
}
