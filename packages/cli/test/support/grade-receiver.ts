import { grade, type Grade } from '../../src/grader/grade.ts';
import { GradedReceiver, type GradingOptions } from '../../src/grader/receiver.ts';
import { faultyReceiver } from './faulty-receiver.ts';
import { SECRET } from './receiver.ts';

export const SECOND_SECRET = 'whsec_WcOulym8Zkrzu3zWe4cxhJDijIpnHxAQ';
const NEVER = new AbortController().signal;

/** Grades a receiver with these faults. @param only the ids of checks; all by default */
export async function gradesOf(
  faults: readonly string[],
  only?: readonly string[],
  options: Partial<GradingOptions> = {},
): Promise<readonly Grade[]> {
  const receiver = await faultyReceiver([SECRET, SECOND_SECRET], faults, 2_000);
  try {
    const graded = new GradedReceiver({
      ...{ url: receiver.url, secret: SECRET, otherSecrets: [SECOND_SECRET], runHandlers: true },
      effectsUrl: receiver.effectsUrl,
      timeoutMs: 60_000,
      retryForMs: 500,
      effectsWithinMs: 500,
      acknowledgeWithinMs: 1_500,
      signal: NEVER,
      ...options,
    });
    return await grade(graded, ({ id }) => only === undefined || only.includes(id));
  } finally {
    await receiver.close();
  }
}
