import type { JournalEntry, RunEntry } from '../src/history/journal.ts';

// Entries of handwritten histories, all about one event.

export const key = 'call-1:call:completed';
export const run = (kind: RunEntry['kind'], at: number, pid = 1, attempt = 1): JournalEntry => ({
  ...{ kind, at, pid, key, attempt },
});
export const delivery = (until: number, status = 200, outcome = 'handled'): JournalEntry => ({
  ...{ kind: 'delivery', at: until - 50, until, key, status, outcome },
});
export const claimed = (at: number, pid = 1, attempt = 1): JournalEntry => ({
  ...{
    kind: 'claimed',
    at,
    until: at + 1,
    pid,
    key,
    attempt,
    token: `token ${pid}`,
    leaseMs: 1_000,
  },
});
export const renewed = (at: number, pid = 1): JournalEntry => ({
  ...{ kind: 'renewed', at, until: at + 1, pid, key, token: `token ${pid}`, leaseMs: 1_000 },
});
export const settled = (
  at: number,
  pid = 1,
  how: 'complete' | 'release' = 'complete',
  held = true,
): JournalEntry[] => {
  const common = { at, pid, key, how, token: `token ${pid}` };
  return [
    { kind: 'settling', ...common },
    { kind: 'settled', ...common, until: at + 1, held },
  ];
};
export const fault = (
  what: 'kill' | 'freeze' | 'server',
  at: number,
  until: number,
  pid = 1,
): JournalEntry => ({
  ...{ kind: 'fault', fault: what, at, until },
  ...(what !== 'server' && { pid }),
});
