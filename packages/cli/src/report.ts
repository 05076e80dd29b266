import { ClientError } from '@call-webhooks/client';
import { WebhookError } from '@call-webhooks/core';
import type { App } from './app.ts';
import { CliError } from './cli-error.ts';
import { EXIT } from './exit.ts';
import { restError } from './service/rest-error.ts';
import { jsonLine } from './terminal/control-characters.ts';
import { t } from './terminal/text.ts';

/** Tells an error, on stderr. @returns the exit code that it ends with */
export function report({ output, io }: App, error: unknown): number {
  const told = asCliError(error);
  const { message, fix, exitCode } = told;
  if (output.json) {
    io.stderr.write(`${jsonLine({ error: { message, fix, exitCode } })}\n`);
    return exitCode;
  }
  output.say(t`${output.talk.red('error:')} ${message}`);
  if (fix !== undefined) output.say(t`${output.talk.dim('fix:')}   ${fix}`);
  if (!(error instanceof CliError) && io.env['DEBUG'] && error instanceof Error)
    for (const line of (error.stack ?? '').split('\n')) output.say(line);
  return exitCode;
}

function asCliError(error: unknown): CliError {
  if (error instanceof CliError) return error;
  if (error instanceof ClientError) return restError(error);
  // A secret, a header prefix, a timestamp: what core refuses was on the command line.
  if (error instanceof WebhookError) return new CliError(EXIT.badInput, error.message);
  const message = error instanceof Error ? error.message : String(error);
  const { code } = error as { code?: unknown };
  if (typeof code === 'string' && /^E[A-Z]+$/.test(code))
    return new CliError(EXIT.environment, message);
  return new CliError(EXIT.environment, `Unexpected: ${message}`, 'Set DEBUG=1 to see where.');
}
