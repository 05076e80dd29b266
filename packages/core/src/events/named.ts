import { boundTo, isPlain, isRoot } from '../check-options.ts';
import type { Handler } from '../delivery.ts';
import { invalidOptions } from '../errors.ts';
import { tellEventNames } from '../report/event-name.ts';
import { EVENT_NAMES } from './events.ts';
import type { StandardSchema } from './schema.ts';

/** What the options `on` and `events` have, by event name. */
export interface NamedHandlers {
  readonly handlers: ReadonlyMap<string, Handler<unknown>>;
  readonly schemas: ReadonlyMap<string, StandardSchema>;
}

/**
 * Finds the handlers by asking `on` for the name of each event, and never by listing its properties:
 * methods of a class, getters and proxies are found like the properties of a plain object.
 * @throws WebhookError `invalid-options` if `on` has no handler at all, or one that no event could
 *   reach
 */
export function namedHandlers(given: {
  readonly on?: object | undefined;
  readonly events?: object | undefined;
}): NamedHandlers {
  const { on, events = {} } = given;
  const schemas = schemasOf(events);
  tellEventNames(schemas.keys());
  const handlers = new Map<string, Handler<unknown>>();
  if (on === undefined) return { handlers, schemas };
  const known = [...EVENT_NAMES, ...schemas.keys()];
  for (const name of known) {
    const handle = valueOf(on, name);
    if (handle === undefined) continue;
    if (!isHandler(handle)) throw invalidOptions(`on.${name}: ${HANDLER_EXPECTED}.`);
    handlers.set(name, boundTo(on, handle) as Handler<unknown>);
  }
  const unknown = unknownName(on, known);
  if (unknown !== undefined)
    throw invalidOptions(
      `on: there is no event "${unknown}". Known events: ${known.join(', ')}. To handle another event, add its schema to events.`,
    );
  if (handlers.size === 0)
    throw invalidOptions(
      `on: it contains no handler, so every event would be ignored. The receiver looked for the properties ${known.join(', ')}. If the handlers are in a Map, pass Object.fromEntries(map). If they are in another file, check that its export is not empty. If you have no handlers yet, leave out on.`,
    );
  return { handlers, schemas };
}

export const HANDLER_EXPECTED = 'expected a function that is not a generator';

/** Calling a generator function does not run its body: its events would be acknowledged and lost. */
export const isHandler = (value: unknown): boolean =>
  typeof value === 'function' && !Object.prototype.toString.call(value).includes('Generator');

/** The schemas are listed, since their names are what the user adds. */
function schemasOf(events: object): Map<string, StandardSchema> {
  const schemas = new Map<string, StandardSchema>();
  const own = new Set(Object.keys(events));
  for (const name of propertyNames(events)) {
    const schema = valueOf(events, name);
    if (schema === undefined && !own.has(name)) continue;
    if (isSchema(schema)) schemas.set(name, schema);
    else if (own.has(name)) throw invalidOptions(`events.${name}: ${SCHEMA_EXPECTED}.`);
  }
  const twice = EVENT_NAMES.find((name) => schemas.has(name));
  if (twice !== undefined)
    throw invalidOptions(`events: "${twice}" is already an event of the service.`);
  if (schemas.size === 0 && !isPlain(events))
    throw invalidOptions(
      'events: it contains no schema. Pass an object with a schema for each event name. If the schemas are in a Map, pass Object.fromEntries(map).',
    );
  return schemas;
}

export const SCHEMA_EXPECTED =
  'expected a schema (zod, valibot, arktype or another Standard Schema)';

export const isSchema = (value: unknown): value is StandardSchema =>
  (typeof value === 'object' || typeof value === 'function') &&
  value !== null &&
  '~standard' in value;

/** The value of a property. Properties that every object has, such as `toString`, do not count. */
function valueOf(object: object, name: string): unknown {
  const isOfEveryObject = name in Object.prototype && !Object.hasOwn(object, name);
  return isOfEveryObject ? undefined : Reflect.get(object, name, object);
}

/**
 * A name that is certainly meant to be an event: an own property, or one of the class whose name has a
 * colon. Fields of an instance that are not functions are its state.
 */
function unknownName(on: object, known: readonly string[]): string | undefined {
  const isMeant = (name: string) =>
    !known.includes(name) && (isPlain(on) || typeof valueOf(on, name) === 'function');
  return (
    Object.keys(on).find(isMeant) ??
    propertyNames(on).find((name) => name.includes(':') && !known.includes(name))
  );
}

/** The names of its properties and of those that it inherits, except from `Object.prototype`. */
function propertyNames(object: object): string[] {
  const names = new Set<string>();
  for (let at: object | null = object; at !== null && !isRoot(at); at = Reflect.getPrototypeOf(at))
    for (const name of Object.getOwnPropertyNames(at))
      if (at === object || name !== 'constructor') names.add(name);
  return [...names];
}
