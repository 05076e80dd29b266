import { SimulatorError } from '../simulator-error.ts';

/** @throws SimulatorError `invalid-input` for a chosen secret that no receiver would take */
export function checkSecret(secret: string): void {
  const base64 = /^whsec_(.+)$/.exec(secret)?.[1] ?? '';
  const bytes = Buffer.from(base64, 'base64');
  const canonical = bytes.toString('base64');
  const isBase64 = base64 === canonical || base64 === canonical.replace(/=+$/, '');
  if (!isBase64 || bytes.length < 16)
    throw new SimulatorError(
      'invalid-input',
      'A signing secret is "whsec_" and the base64 of at least 16 bytes.',
    );
}
