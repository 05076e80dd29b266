import { grade, type Grade } from '../../src/grader/grade.ts';
import { PROBES } from '../../src/grader/probes.ts';
import { BASELINE } from '../../src/grader/probes/basics.ts';
import type { TestedReceiverOptions } from '../../src/grader/tested-receiver.ts';
import { faultyReceiver } from './faulty-receiver.ts';
import { SECRET } from './receiver.ts';

export const SECOND_SECRET = 'whsec_WcOulym8Zkrzu3zWe4cxhJDijIpnHxAQ';
const NEVER = new AbortController().signal;

/** Grades a receiver with these faults. @param only the ids of probes; all by default */
export async function gradesOf(
  faults: readonly string[],
  only?: readonly string[],
  options: Partial<TestedReceiverOptions> = {},
): Promise<readonly Grade[]> {
  const receiver = await faultyReceiver([SECRET, SECOND_SECRET], faults, 2_000);
  try {
    const grades: Grade[] = [];
    await grade(
      PROBES.filter(({ id }) => only === undefined || id === BASELINE || only.includes(id)),
      {
        url: receiver.url,
        secret: SECRET,
        secondSecret: SECOND_SECRET,
        runHandlers: true,
        effectsUrl: receiver.effectsUrl,
        timeoutMs: 60_000,
        retryForMs: 500,
        effectsWithinMs: 500,
        acknowledgeWithinMs: 1_500,
        restart: async () => receiver.restart(),
        restartWithinMs: 500,
        signal: NEVER,
        ...options,
      },
      (one) => Promise.resolve(void grades.push(one)),
      NEVER,
    );
    return grades;
  } finally {
    await receiver.close();
  }
}
