import { HTTP, type HttpName } from '../contenders.ts';
import type { SeenAnswer } from '../sending/sender.ts';

/**
 * Nobody is faster by answering less: all give the answer of our receiver, except those that let
 * nobody choose. (Fastify adds a charset to the content type, for all of its contenders alike.)
 * @throws Error that names the contender and what it answered
 */
export function checkAnswers(
  runners: Readonly<Partial<Record<HttpName, { readonly answer: SeenAnswer }>>>,
): void {
  for (const [name, { answer }] of Object.entries(runners)) {
    if ('ownAnswer' in HTTP[name as HttpName]) continue;
    const same =
      answer.status === 200 &&
      answer.body === '{"outcome":"handled"}' &&
      answer.contentType?.startsWith('application/json');
    if (!same) throw new Error(`${name} answers ${JSON.stringify(answer)}.`);
  }
}
