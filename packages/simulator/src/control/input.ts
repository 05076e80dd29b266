import { SimulatorError } from '../simulator-error.ts';

type Kind = 'string' | 'number' | 'boolean' | 'object' | 'array' | 'string?' | 'any';

const IS: Readonly<Record<Kind, (value: unknown) => boolean>> = {
  string: (value) => typeof value === 'string',
  number: (value) => typeof value === 'number',
  boolean: (value) => typeof value === 'boolean',
  object: (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
  array: Array.isArray,
  'string?': (value) => typeof value === 'string' || value === null,
  any: () => true,
};

/**
 * The fields of a body, each of the kind that it is to be; all may be left out.
 * @throws SimulatorError `invalid-input` that names the field
 */
export function fieldsOf<Fields extends object>(
  body: unknown,
  kinds: Readonly<Record<keyof Fields & string, Kind>>,
): Fields {
  const fields = body ?? {};
  if (!IS.object(fields))
    throw new SimulatorError('invalid-input', 'The body is to be a JSON object.');
  for (const [name, value] of Object.entries(fields as Record<string, unknown>)) {
    const kind = Object.hasOwn(kinds, name) ? kinds[name as keyof typeof kinds] : undefined;
    if (!kind)
      throw new SimulatorError(
        'invalid-input',
        `There is no such field. There are: ${Object.keys(kinds).join(', ') || 'none'}.`,
      );
    if (!IS[kind](value))
      throw new SimulatorError('invalid-input', `${name} is to be of type ${kind}.`);
  }
  return fields as Fields;
}
