import { readFileSync } from 'node:fs';
import { createContext, runInContext } from 'node:vm';

const DOC = new URL('../../../../../docs/deployment.md', import.meta.url);

/**
 * Runs the catch-all route that the docs show for a framework.
 * @throws Error when the docs have no code block that starts with its name
 */
export function documentedCatchAll(framework: string): (app: object) => void {
  const blocks = readFileSync(DOC, 'utf8').matchAll(/^```ts\n(.*?)^```/gms);
  const block = [...blocks]
    .map(([, code = '']) => code)
    .find((code) => code.startsWith(`// ${framework}`));
  if (block === undefined) throw new Error(`docs/deployment.md has no catch-all for ${framework}.`);
  return (app) => void runInContext(block, createContext({ app }));
}
