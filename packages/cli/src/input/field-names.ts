import { badInput } from '../errors.ts';
import { didYouMean } from './did-you-mean.ts';

const NAMES = ['createdAt', 'dialedAt', 'endedAt'] as const;
type FieldName = (typeof NAMES)[number];

const isName = (name: string): name is FieldName => NAMES.some((one) => one === name);

/** Parses `createdAt=field` pairs: where call records have their times. @throws CliError 2 */
export function fieldNames(given: readonly string[] = []): Partial<Record<FieldName, string>> {
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
          didYouMean(name, NAMES, `Names: ${NAMES.join(', ')}.`),
        );
      return [name, field];
    }),
  );
}
