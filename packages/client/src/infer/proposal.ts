/** A field that fits a setting, and why. No reason quotes a value: values may name people. */
export interface Candidate {
  /** The field's name as the service writes it; a path with dots where it lies deeper. */
  readonly name: string;
  readonly reasons: readonly string[];
}

/** What the samples say about one setting. */
export interface Proposal<Setting extends string = string> {
  readonly setting: Setting;
  /**
   * - `found`: exactly one field fits. It is the only candidate.
   * - `not-sure`: several fields fit, or one fits only loosely. Choose among the candidates.
   * - `not-seen`: no field fits. There are no candidates.
   */
  readonly status: 'found' | 'not-sure' | 'not-seen';
  readonly candidates: readonly Candidate[];
}

/** Proposes the only candidate; with several of them, or one that is not enough, says so. */
export function propose<Setting extends string>(
  setting: Setting,
  candidates: readonly Candidate[],
  enough = true,
): Proposal<Setting> {
  if (candidates.length === 0) return { setting, status: 'not-seen', candidates };
  const found = enough && candidates.length === 1;
  return { setting, status: found ? 'found' : 'not-sure', candidates };
}

// With more candidates than this a field is not going to be settled.
const mostCandidates = 12;

/**
 * Gives every setting a field of its own. Of all ways to do so, those count that settle the most
 * settings: a field that is the only candidate of one setting is none of another. A setting is found
 * when all of these ways agree about it.
 */
export function matchCandidates<Setting extends string>(
  fits: Readonly<Record<Setting, readonly Candidate[]>>,
): Proposal<Setting>[] {
  const settings = Object.keys(fits) as Setting[];
  const open = settings.filter((setting) => fits[setting].length <= mostCandidates);
  const ways = largestWays(open.map((setting) => fits[setting].map(({ name }) => name)));
  return settings.map((setting) => {
    const index = open.indexOf(setting);
    if (index < 0) return propose(setting, fits[setting]);
    const possible = new Set(ways.map((way) => way[index]));
    const left = fits[setting].filter(({ name }) => possible.has(name));
    return propose(setting, left, !possible.has(undefined));
  });
}

type Way = readonly (string | undefined)[];

/** All ways to choose one name from each list, none twice, that leave the fewest lists without one. */
function largestWays(lists: readonly (readonly string[])[]): Way[] {
  let ways: Way[] = [];
  let best = 0;
  const choose = (way: Way): void => {
    const list = lists[way.length];
    if (list !== undefined) {
      for (const name of [undefined, ...list])
        if (name === undefined || !way.includes(name)) choose([...way, name]);
      return;
    }
    const size = way.filter((name) => name !== undefined).length;
    if (size > best) [ways, best] = [[], size];
    if (size === best) ways.push(way);
  };
  choose([]);
  return ways;
}
