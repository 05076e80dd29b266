import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { styleText } from 'node:util';

/** The receiver in its own process, which can be killed and restarted. */
export interface ReceiverProcess {
  readonly url: string;
  readonly port: number;
  /** Stops the process; `SIGKILL` simulates a crash. */
  end(signal: 'SIGTERM' | 'SIGKILL'): Promise<void>;
}

/** @param onLine called with each line of its output */
export async function startReceiver(
  env: Readonly<Record<string, string>>,
  onLine: (line: string) => void,
): Promise<ReceiverProcess> {
  const child: ChildProcess = fork(fileURLToPath(new URL('./receiver.ts', import.meta.url)), {
    env: { ...process.env, ...env },
    silent: true,
  });
  for (const stream of [child.stdout, child.stderr]) {
    let rest = '';
    stream?.setEncoding('utf8').on('data', (text: string) => {
      const lines = (rest + text).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) {
        console.log(`${styleText('dim', '  receiver │')} ${line}`);
        onLine(line);
      }
    });
  }
  const ended = once(child, 'close');
  const ready = await Promise.race([once(child, 'message'), ended.then(() => undefined)]);
  if (ready === undefined) throw new Error('The receiver did not start.');
  const { url, port } = ready[0] as { url: string; port: number };
  return {
    url,
    port,
    async end(signal) {
      child.kill(signal);
      await ended;
    },
  };
}
