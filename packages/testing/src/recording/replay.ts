import { deliver, type Delivered, type DeliverOptions } from '../deliver.ts';
import type { Target } from '../target.ts';
import { readFixtures } from './fixture-file.ts';

/**
 * Delivers every recorded event, in its order, each signed anew.
 * @param file written by `record`
 * @throws WebhookError `invalid-options`: there is no such file, or as `deliver`
 * @example
 * const delivered = await replay(app, 'test/calls.json');
 * expect(delivered.every(({ status }) => status === 200)).toBe(true);
 */
export async function replay(
  target: Target,
  file: string,
  options: Omit<DeliverOptions, 'webhookId'> = {},
): Promise<Delivered[]> {
  const delivered: Delivered[] = [];
  for (const body of readFixtures(file))
    delivered.push(await deliver(target, JSON.stringify(body), options));
  return delivered;
}
