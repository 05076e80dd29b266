import { HTTP, type HttpName } from '../contenders.ts';
import { Sender, type SeenAnswer } from '../sending/sender.ts';
import { signedRequests } from '../sending/requests.ts';
import { Child } from './child.ts';
import type { Runner } from './rounds.ts';

/** A server under load. `answer` is what it gives to an honest delivery. */
export interface HttpRunner extends Runner {
  readonly answer: SeenAnswer;
}

/**
 * @param requests how many a turn sends; none of them is sent twice
 * @param connections how many are open at once
 */
export async function httpRunner(
  name: HttpName,
  requests: number,
  connections: number,
): Promise<HttpRunner> {
  const { scheme } = HTTP[name];
  const child = await Child.start('http-process', name);
  const sender = await Sender.open(child.ready.port as number, connections);
  const [first] = signedRequests(scheme, 1);
  const answer = await sender.probe(first as Buffer);
  return {
    answer,
    async turn() {
      const batch = signedRequests(scheme, requests);
      const before = await child.ask({ ask: 'usage' });
      await sender.run(batch);
      const after = await child.ask({ ask: 'usage' });
      if (after.handled - before.handled !== requests)
        throw new Error(`${name} handled ${after.handled - before.handled} of ${requests}.`);
      return (after.cpu - before.cpu) / requests;
    },
    async stop() {
      sender.close();
      await child.stop();
    },
  };
}
