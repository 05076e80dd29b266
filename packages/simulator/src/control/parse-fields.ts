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
 * Checks the fields of a JSON body. Every field is optional.
 * @param kinds the known fields and their types; `string?` also allows `null`
 * @throws SimulatorError `invalid-input` that names the field
 */
export function parseFields<Fields extends object>(
  body: unknown,
  kinds: Readonly<Record<keyof Fields & string, Kind>>,
): Fields {
  const fields = body ?? {};
  if (!IS.object(fields))
    throw new SimulatorError('invalid-input', 'The body must be a JSON object.');
  for (const [name, value] of Object.entries(fields as Record<string, unknown>)) {
    const kind = Object.hasOwn(kinds, name) ? kinds[name as keyof typeof kinds] : undefined;
    if (!kind)
      throw new SimulatorError(
        'invalid-input',
        `Unknown field. The fields are: ${Object.keys(kinds).join(', ') || 'none'}.`,
      );
    if (!IS[kind](value))
      throw new SimulatorError('invalid-input', `${name} must be of type ${kind}.`);
  }
  return fields as Fields;
}
