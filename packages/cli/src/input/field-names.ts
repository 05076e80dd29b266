import { badInput } from '../errors.ts';
import { didYouMean } from './did-you-mean.ts';

/** The times of call records. */
export const TIME_FIELDS = ['createdAt', 'dialedAt', 'endedAt'] as const;

/** Parses `createdAt=field` pairs: the real names of the known fields. @throws CliError 2 */
export function fieldNames<Name extends string>(
  known: readonly Name[],
  given: readonly string[] = [],
): Partial<Record<Name, string>> {
  const isName = (name: string): name is Name => known.some((one) => one === name);
  return Object.fromEntries(
    given.map((pair) => {
      const [, name, field] = /^(\w+)=(.+)$/.exec(pair) ?? [];
      if (name === undefined || field === undefined)
        throw badInput(
          `--field-name ${pair} is not of the form name=field.`,
          'Example: createdAt=created',
        );
      if (!isName(name))
        throw badInput(
          `There is no field name ${name}.`,
          didYouMean(name, known, `Names: ${known.join(', ')}.`),
        );
      return [name, field];
    }),
  ) as Partial<Record<Name, string>>;
}
