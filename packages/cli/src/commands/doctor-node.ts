import { type Found, ok, warn } from './diagnosis.ts';

/** When each version gets no more fixes (nodejs/Release). */
const END_OF_LIFE: Readonly<Record<string, string>> = {
  20: '2026-04-30',
  22: '2027-04-30',
  24: '2028-04-30',
  26: '2029-04-30',
};

/** Whether a version of Node.js is still supported. @param version such as `24.1.0` */
export function nodeVersion(version: string, now: number): Found {
  const end = END_OF_LIFE[version.split('.')[0] ?? ''];
  if (end !== undefined && now < Date.parse(end))
    return ok(`Node ${version}, which is supported until ${end}.`);
  const why =
    end === undefined
      ? 'is not a long-term support release'
      : `has not been supported since ${end}`;
  return warn(`Node ${version} ${why}.`, 'Use Node 24 or 26.');
}
