import { expect, test } from '@jest/globals';
import { orAbort } from '../../src/http/abort.ts';

const never = new Promise<never>(() => undefined);

test('passes the result and the error on', async () => {
  await expect(orAbort(Promise.resolve(1), undefined)).resolves.toBe(1);
  await expect(orAbort(Promise.resolve(1), new AbortController().signal)).resolves.toBe(1);
  const failing = Promise.reject(new Error('x'));
  await expect(orAbort(failing, new AbortController().signal)).rejects.toThrow('x');
});

test('an abort wins over what never settles', async () => {
  const controller = new AbortController();
  const waiting = orAbort(never, controller.signal);
  controller.abort(new Error('enough'));
  await expect(waiting).rejects.toThrow('enough');
  await expect(orAbort(never, controller.signal)).rejects.toThrow('enough');
});
