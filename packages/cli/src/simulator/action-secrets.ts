import type { Rule } from '@call-webhooks/simulator';
import type { Command } from 'commander';
import { secretsByOwner, type SecretOptions } from '../input/secrets.ts';
import type { Io } from '../io.ts';

/** Flags of commands that create actions. */
interface ActionSecretOptions extends SecretOptions {
  readonly sharedSecret?: boolean | undefined;
}

/** Adds `--shared-secret`. */
export const withSharedSecretOption = (command: Command): Command =>
  command.option('--shared-secret', 'sign all actions with one secret, unlike the service');

/**
 * The given secrets, one for each action that is created: those of the call actions in their order, and
 * that of the recording webhook, or else the next one.
 * @returns the secret of the next action for an event; `undefined` where none is left, or given
 */
export async function secretsForActions(
  io: Io,
  options: ActionSecretOptions,
): Promise<(event: Rule['trigger']) => string | undefined> {
  const { calls, recording } = await secretsByOwner(io, options);
  if (options.sharedSecret) return () => calls[0] ?? recording[0];
  const left = { calls: [...calls], recording: [...recording] };
  return (event) =>
    (event === 'call:recording-available' ? left.recording.shift() : undefined) ??
    left.calls.shift();
}
