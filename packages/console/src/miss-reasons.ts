import type { SeenProcess } from '@call-webhooks/core/stores';
import type { MissReason } from './api-types.ts';
import { sourceOf } from './overview.ts';

const MINUTE = 60_000;
/** Failures so long before a silence may have paused the rule: the service retries every 5 minutes. */
const BEFORE = 30;
/** The webhook of an event comes within so many minutes. */
const SOON = 3;

type Minutes = ReadonlyMap<number, Readonly<Record<string, number>>>;

/**
 * Why events were missed, as far as the log tells: for each stretch of time, what came to any process
 * by webhook when they should have.
 * @param times when the calls of the missed events ended; milliseconds since the epoch
 * @param minutes the counters of all minutes that are kept
 */
export function missReasons(
  times: readonly number[],
  minutes: Minutes,
  processes: readonly SeenProcess[],
): MissReason[] {
  const webhooks = new Map(
    [...minutes]
      .map(([minute, counts]) => [minute, sourceOf([counts], 'webhook')] as const)
      .filter(([, { total }]) => total > 0)
      .sort(([one], [other]) => one - other),
  );
  const busy = [...webhooks.keys()];
  const began = Math.min(...processes.map(({ startedAt }) => startedAt));
  const reasons = new Map<string, MissReason>();
  for (const time of [...times].sort((one, other) => one - other)) {
    const minute = Math.floor(time / MINUTE);
    const from = busy.findLast((one) => one < minute) ?? null;
    const until = busy.find((one) => one >= minute) ?? null;
    const isSilent = until === null || until > minute + SOON;
    const reason = isSilent
      ? silence(from, until, webhooks, processes)
      : during(minute, minute + SOON, webhooks);
    if (from === null && !(time >= began)) Object.assign(reason, { kind: 'unknown' });
    const key = [reason.kind, isSilent ? from : '', isSilent ? until : ''].join();
    const known = reasons.get(key) ?? reason;
    known.missed += 1;
    if (!isSilent) known.until = (minute + 1) * MINUTE;
    reasons.set(key, known);
  }
  return [...reasons.values()];
}

type Webhooks = ReadonlyMap<number, ReturnType<typeof sourceOf>>;

function silence(
  from: number | null,
  until: number | null,
  webhooks: Webhooks,
  processes: readonly SeenProcess[],
): MissReason {
  let failedBefore = 0;
  if (from !== null)
    for (const [minute, { results }] of webhooks)
      if (minute > from - BEFORE && minute <= from) failedBefore += results.failed;
  const [begin, end] = [
    from === null ? null : from * MINUTE,
    until === null ? null : until * MINUTE,
  ];
  const wasRunning = processes.some(
    ({ startedAt, seenAt }) => startedAt <= (begin ?? 0) + MINUTE && end !== null && seenAt >= end,
  );
  return {
    kind: 'silence',
    missed: 0,
    from: begin,
    until: end,
    failedBefore,
    wasRunning: begin === null || end === null ? null : wasRunning,
  };
}

function during(from: number, to: number, webhooks: Webhooks): MissReason {
  let [rejected, failed] = [0, 0];
  for (const [minute, { results }] of webhooks)
    if (minute >= from && minute <= to) {
      rejected += results.rejected;
      failed += results.failed;
    }
  return {
    kind: rejected > 0 ? 'rejected' : failed > 0 ? 'failed' : 'single',
    missed: 0,
    from: from * MINUTE,
    until: (from + 1) * MINUTE,
    failedBefore: 0,
    wasRunning: null,
  };
}
