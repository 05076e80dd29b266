/** What a check of the setup found. */
export interface Diagnosis {
  readonly check: string;
  readonly result: 'ok' | 'warn' | 'bad' | 'skipped';
  readonly text: string;
  readonly fix?: string | undefined;
}

/** What an examination found, of the check that it is named after unless it names another. */
export type Found = Omit<Diagnosis, 'check'> & { readonly check?: string };

const found =
  (result: Diagnosis['result']) =>
  (text: string, fix?: string): Found => ({ result, text, fix });
export const ok = found('ok');
export const warn = found('warn');
export const bad = found('bad');
export const skipped = found('skipped');
