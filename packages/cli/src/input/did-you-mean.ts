import { closestMatch } from 'leven';

/**
 * Suggests the name that was most likely meant.
 * @param otherwise the suggestion when no name is close
 */
export function didYouMean(given: string, names: readonly string[], otherwise: string): string {
  const wanted = given.toLowerCase();
  const suffixOf = names.find((name) => name.endsWith(`:${wanted}`));
  const maxDistance = Math.max(1, Math.floor(wanted.length / 3));
  const match = suffixOf ?? closestMatch(wanted, names, { maxDistance });
  return match === undefined ? otherwise : `Did you mean ${match}?`;
}
