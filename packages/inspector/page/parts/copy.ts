import { actionButton } from './action-button.ts';
import { tell } from './notices.ts';

/** A button that copies a text. @param what names it in the message, `Secret` for example */
export const copyButton = (what: string, text: () => Promise<string> | string): HTMLButtonElement =>
  actionButton(
    { label: `Copy ${what.toLowerCase()}`, icon: 'copy', class: 'ghost small', iconOnly: true },
    async () => {
      await navigator.clipboard.writeText(await text());
      tell(`${what} copied.`);
    },
  );
