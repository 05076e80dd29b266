import type { PostResult } from '../../http/post.ts';

/**
 * What is wrong with a receiver that answers everything with the same server error: no probe says more.
 * @returns undefined for any other receiver
 */
export function allFailed(results: readonly PostResult[]): string | undefined {
  const [first] = results;
  if (first?.kind !== 'status' || first.status < 500) return undefined;
  const { status } = first;
  if (!results.every((one) => one.kind === 'status' && one.status === status)) return undefined;
  return `The receiver answers ${String(status)} to everything, so nothing could be tested. Its log has the error.`;
}
