import { bad, type Found, ok, warn } from './diagnosis.ts';

/** When each version gets no more fixes (nodejs/Release). */
const END_OF_LIFE: Readonly<Record<string, string>> = {
  20: '2026-04-30',
  22: '2027-04-30',
  24: '2028-04-30',
  26: '2029-04-30',
};

const UPDATE = 'Update to Node 24 or 26.';

/** Whether a version of Node.js still gets fixes. @param version such as `24.1.0` */
export function nodeVersion(version: string, now: number): Found {
  const [major = '', minor = ''] = version.split('.');
  if (Number(major) < 20 || (major === '20' && Number(minor) < 19))
    return bad(`Node ${version} is too old: these packages need 20.19 or later.`, UPDATE);
  const end = END_OF_LIFE[major];
  if (end !== undefined && now < Date.parse(end))
    return ok(`Node ${version}, which receives security fixes until ${end}.`);
  const why =
    end === undefined
      ? 'is not a long-term support release'
      : `has received no security fixes since ${end}`;
  return warn(`These packages work with Node ${version}, but Node ${major} ${why}.`, UPDATE);
}
