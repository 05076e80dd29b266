import type { AsyncLocalStorage } from 'node:async_hooks';
import diagnostics from 'node:diagnostics_channel';
import { jest } from '@jest/globals';

/**
 * Undoes what samples do with diagnostics channels from now on. No sample closes its console or its
 * telemetry, and all tests of a process share the channels.
 */
export function watchSubscriptions(): { undo(): void } {
  const undo: (() => void)[] = [];
  const subscribe = jest.spyOn(diagnostics, 'subscribe');
  const { tracingChannel } = diagnostics;
  jest.spyOn(diagnostics, 'tracingChannel').mockImplementation((name) => {
    const channel = tracingChannel(name as string);
    // Express has channels of its own.
    if (typeof name === 'string' && !name.startsWith('call-webhooks:')) return channel;
    const { start } = channel;
    const bindStore = (
      storage: AsyncLocalStorage<unknown>,
      valueOf: (message: unknown) => unknown,
    ) => {
      start.bindStore(storage, valueOf);
      undo.push(() => void start.unbindStore(storage));
    };
    return { start: { bindStore } } as never;
  });
  return {
    undo() {
      for (const [name, listener] of subscribe.mock.calls) diagnostics.unsubscribe(name, listener);
      for (const step of undo) step();
    },
  };
}
