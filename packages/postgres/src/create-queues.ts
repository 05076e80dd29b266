import type { PgBossClient } from './pg-boss.ts';

const DEADLOCK = '40P01';
const TRIES = 5;

/** Creates both queues if they are missing. Existing ones keep their settings. */
export async function createQueues(
  boss: PgBossClient,
  queue: string,
  deadLetterQueue: string,
): Promise<void> {
  for (const name of [deadLetterQueue, queue]) await createQueue(boss, name, TRIES);
}

/** For pg-boss a queue is a new table, and creating two at once may deadlock. */
async function createQueue(boss: PgBossClient, name: string, tries: number): Promise<void> {
  if (await boss.getQueue(name)) return;
  try {
    await boss.createQueue(name);
  } catch (error) {
    if ((error as { code?: unknown }).code !== DEADLOCK || tries <= 1) throw error;
    await new Promise((resolve) => setTimeout(resolve, 50 + Math.random() * 200));
    await createQueue(boss, name, tries - 1);
  }
}
