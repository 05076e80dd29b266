import { PassThrough, Writable } from 'node:stream';
import { afterEach } from '@jest/globals';
import { Client } from '@modelcontextprotocol/client';
import { StdioServerTransport } from '@modelcontextprotocol/server/stdio';
import { main } from '../../src/main.ts';
import { closing } from './dead-letters.ts';

/** The parts of answers that are looked at. */
interface Answer extends Record<string, unknown> {
  readonly causes: readonly { id: string; untrusted: { error: string } }[];
  readonly newestFirst: readonly { id: string }[];
  readonly deliveries: readonly { id: string }[];
}

const ended: Promise<number>[] = [];
afterEach(() => Promise.all(ended.splice(0)));

/** An assistant, and the command line that it has started. */
export async function assistant(argv: readonly string[], env: Record<string, string> = {}) {
  const [input, output] = [new PassThrough(), new PassThrough()];
  const { signal } = new AbortController();
  let told = '';
  const stderr = new Writable({
    write(chunk, _encoding, done) {
      told += String(chunk);
      done();
    },
  });
  const io = { stdin: input, stdout: output, stderr, signal, killed: signal };
  const code = main(['mcp', ...argv], { ...io, env: { ...NO_SIMULATOR, ...env } });
  ended.push(code);
  const client = new Client({ name: 'test', version: '1.0.0' });
  await client.connect(new StdioServerTransport(output, input));
  closing.push(async () => {
    await client.close();
    input.end();
  });
  const answers: string[] = [];
  const ask = async (name: string, given: Record<string, unknown> = {}) => {
    const { content, isError } = await client.callTool({ name, arguments: given });
    const [first] = content as unknown as [{ text: string }];
    answers.push(first.text);
    const isJson = first.text.startsWith('{');
    return { isError, text: first.text, answer: (isJson ? JSON.parse(first.text) : {}) as Answer };
  };
  return { client, ask, answers, input, code, told: () => told };
}

const NO_SIMULATOR = { CALL_WEBHOOKS_SIMULATOR: 'http://127.0.0.1:1' };
