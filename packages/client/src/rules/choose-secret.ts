import { isRecord } from '../json-path.ts';
import type { FoundSecret } from './find-secrets.ts';

/** What is known about the secret that is wanted. */
export interface WantedSecret {
  /** The id of its action, when a secret was rotated. */
  readonly actionId?: string;
  /** The URL of its action, when an action was created. */
  readonly url?: string;
  /** Secrets from before the write. */
  readonly known?: ReadonlySet<string>;
}

/** The secret of the action; without one, the secrets that it may be. */
export interface ChosenSecret {
  readonly secret: string | undefined;
  readonly candidates: readonly FoundSecret[];
  /** Whether none of them can be new: each was known before the write, or has a name that says old. */
  readonly outdated: boolean;
}

/**
 * Chooses the secret that belongs to the action, by the id or URL of the objects around it and by
 * the names of the fields.
 */
export function chooseSecret(found: readonly FoundSecret[], wanted: WantedSecret): ChosenSecret {
  const here =
    narrow(found, (one) => ownerOf(one, wanted) === 'this') ?? withoutOwner(found, wanted);
  if (here === undefined) return choice(found, undefined, wanted);
  const fresh = narrow(here, ({ secret }) => !wanted.known?.has(secret)) ?? here;
  const candidates = isOne(fresh) ? fresh : newest(fresh);
  return choice(candidates, isOne(candidates) ? candidates[0]?.secret : undefined, wanted);
}

function choice(
  candidates: readonly FoundSecret[],
  secret: string | undefined,
  { known }: WantedSecret,
): ChosenSecret {
  const current = secretsOf(candidates.filter((one) => ageOfPath(one) !== 'old'));
  const outdated = candidates.every((one) => known?.has(one.secret) || !current.has(one.secret));
  return { secret, candidates, outdated };
}

/** Leaves out secrets that are called old, then those that are not called new. */
function newest(found: readonly FoundSecret[]): readonly FoundSecret[] {
  const old = secretsOf(found.filter((one) => ageOf(one) === 'old'));
  const current = secretsOf(found.filter((one) => ageOf(one) === 'new'));
  const left = narrow(found, ({ secret }) => current.has(secret) || !old.has(secret)) ?? found;
  if (isOne(left)) return left;
  return narrow(left, ({ secret }) => current.has(secret) && !old.has(secret)) ?? left;
}

/** The occurrences that are not in another action. A secret that stands alone may be in any object. */
function withoutOwner(
  found: readonly FoundSecret[],
  wanted: WantedSecret,
): readonly FoundSecret[] | undefined {
  const free = narrow(found, (one) => ownerOf(one, wanted) === undefined);
  if (free !== undefined) return free;
  const inList = found.some(({ parents }) => parents.some((parent) => Array.isArray(parent)));
  return isOne(found) && !inList ? found : undefined;
}

/** Whether the nearest object that is an action is the wanted one, or another one. */
function ownerOf(
  { path, parents }: FoundSecret,
  wanted: WantedSecret,
): 'this' | 'other' | undefined {
  for (let depth = parents.length - 1; depth >= 0; depth--) {
    const key = path[depth - 1];
    if (wanted.actionId !== undefined && path[depth] === wanted.actionId) return 'this';
    const object = parents[depth];
    if (object === undefined || Array.isArray(object)) continue;
    const ids = ['_id', 'id', 'actionId', 'action_id'].map(
      (name) => Reflect.get(object, name) as unknown,
    );
    const urls = urlsOf(object);
    if (wanted.actionId !== undefined && ids.includes(wanted.actionId)) return 'this';
    if (wanted.url !== undefined && urls.includes(new URL(wanted.url).href)) return 'this';
    if (depth === 0) continue;
    const hasId = ids.some((id) => id !== undefined);
    const isElement = Array.isArray(parents[depth - 1]);
    const isAction = urls.length > 0 || /action|hook/i.test(key ?? '');
    if (wanted.actionId !== undefined && hasId && (isElement || isAction)) return 'other';
    if (wanted.url !== undefined && urls.length > 0) return 'other';
  }
  return undefined;
}

/** The URLs among the values of an object, and of the objects in it. */
function urlsOf(object: object): string[] {
  const values = Object.values(object).flatMap((value) =>
    isRecord(value) ? Object.values(value) : [value as unknown],
  );
  return values.flatMap((value) =>
    typeof value === 'string' && /^https?:/i.test(value) && URL.canParse(value)
      ? [new URL(value).href]
      : [],
  );
}

const oldWords =
  /^(?:prev(?:ious)?|old|former|prior|expir(?:ed|ing)|retired|revoked|deprecated|superseded|inactive)$/;
const newWords = /^(?:new|next|current|active|latest|fresh|pending|primary)$/;

/** Whether names say that a secret was replaced, or is the one that counts. */
function ageOf(found: FoundSecret): 'old' | 'new' | undefined {
  const age = ageOfPath(found);
  if (age !== undefined) return age;
  const nearest = found.parents.at(-1);
  if (!isRecord(nearest)) return undefined;
  for (const [key, value] of Object.entries(nearest)) {
    if (/^(?:status|state|kind|type|label|name)$/i.test(key) && typeof value === 'string') {
      const age = ageInWords(value);
      if (age !== undefined) return age;
    }
    if (typeof value === 'boolean' && ageInWords(key) === 'new') return value ? 'new' : 'old';
    if (/^(?:expires|revoked|retired)_?at$/i.test(key) && value !== null) return 'old';
  }
  return undefined;
}

/** What the names of the fields around a secret say. The field nearest to it counts first. */
function ageOfPath({ path }: FoundSecret): 'old' | 'new' | undefined {
  return [...path]
    .reverse()
    .map(ageInWords)
    .find((age) => age !== undefined);
}

function ageInWords(text: string): 'old' | 'new' | undefined {
  const words = text
    .replace(/([a-z])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z]+/);
  if (words.some((word) => oldWords.test(word))) return 'old';
  return words.some((word) => newWords.test(word)) ? 'new' : undefined;
}

function narrow(
  found: readonly FoundSecret[],
  test: (one: FoundSecret) => boolean,
): readonly FoundSecret[] | undefined {
  const left = found.filter(test);
  return left.length > 0 ? left : undefined;
}

function secretsOf(found: readonly FoundSecret[]): Set<string> {
  return new Set(found.map(({ secret }) => secret));
}

function isOne(found: readonly FoundSecret[]): boolean {
  return secretsOf(found).size === 1;
}
