import type { Connection } from './connection.ts';
import { changesOf } from './stream.ts';
import type { AttemptSummary, DeliverySummary, Rule } from './views.ts';

/** Something that is worth a line: an attempt that ended, or a rule whose state changed. */
export type Happening =
  | {
      readonly type: 'attempt';
      readonly delivery: DeliverySummary;
      readonly attempt: AttemptSummary;
    }
  | { readonly type: 'rule'; readonly rule: Rule };

const ALL = 1_000_000;

/**
 * Attempts as they end, and rules as they are paused and resumed. What was before it resolves is left
 * out. @throws CliError 3 when there is no simulator, or when it goes away
 */
export async function happenings(connection: Connection): Promise<AsyncGenerator<Happening>> {
  const changes = await changesOf(connection);
  const told = new Map<string, number>();
  const states = new Map<string, string>();
  const deliveries = () => connection.get<DeliverySummary[]>('/deliveries', { limit: ALL });

  function* fresh(delivery: DeliverySummary): Generator<Happening> {
    const before = told.get(delivery._id) ?? 0;
    let ended = before;
    for (const attempt of delivery.attempts.slice(before)) {
      if (attempt.answer === undefined) break;
      ended++;
      yield { type: 'attempt', delivery, attempt };
    }
    told.set(delivery._id, ended);
  }
  function* turned(rules: readonly Rule[]): Generator<Happening> {
    for (const rule of rules) {
      const before = states.get(rule._id);
      states.set(rule._id, rule.state);
      if (before !== undefined && before !== rule.state) yield { type: 'rule', rule };
    }
  }

  for (const delivery of await deliveries()) for (const _ of fresh(delivery));
  for (const _ of turned(await connection.get<Rule[]>('/rules')));
  return (async function* () {
    for await (const change of changes) {
      const changed = change.resync ? await deliveries() : change.deliveries;
      for (const delivery of changed) yield* fresh(delivery);
      yield* turned(change.rules);
    }
  })();
}
