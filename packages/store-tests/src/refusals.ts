import type { PortHealth } from '@call-webhooks/core';

/**
 * Ways in which a server may refuse what is written while it still answers reads, by their names. Each
 * makes it do so, and resolves with how to undo that.
 */
export type Refusals = Readonly<Record<string, () => Promise<() => Promise<unknown>>>>;

/** While each of these is in force, calls `check` with its name; then undoes it. */
export async function whileRefused(
  refusals: Refusals | undefined,
  check: (name: string) => Promise<void>,
): Promise<void> {
  const ways = Object.entries(refusals ?? {});
  if (ways.length === 0)
    throw new Error('The test needs refusals: ways in which what is written can be refused.');
  for (const [name, refuse] of ways) {
    const undo = await refuse();
    try {
      await check(name);
    } finally {
      await undo();
    }
  }
}

/** What became of a write: a test that fails shows the error, which says why. */
export const outcomeOf = (write: Promise<unknown>): Promise<string> =>
  write.then(() => 'accepted', rejects);

/** What `ping` said, by the health of a receiver. */
export const pingOf = (health: PortHealth | undefined): string =>
  health?.status === 'down' ? rejects(health.error) : 'resolves';

const rejects = (error: unknown) =>
  `rejects: ${error instanceof Error ? `${error.name}: ${error.message}` : String(error)}`;
