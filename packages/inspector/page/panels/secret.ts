import { fill, h } from '../dom/element.ts';
import type { SecretsView } from '@call-webhooks/simulator/control-api';
import { ask } from '../live/ask.ts';
import { actionButton } from '../parts/action-button.ts';
import { copyButton } from '../parts/copy.ts';
import { tell } from '../parts/notices.ts';

const HIDDEN = 'whsec_••••••••••••';

/**
 * The signing secret of an action: not on the page, nor in its memory, until somebody asks for it;
 * and hidden again after a rotation.
 */
export function secretRow(ruleId: string, actionId: string): HTMLElement {
  const text = h('code', { class: 'secret' });
  const buttons = h('span', { class: 'tools' });
  const row = h(
    'div',
    { class: 'secret-row' },
    h('span', { class: 'visually-hidden' }, 'Signing secret'),
    text,
    buttons,
  );

  const hide = (note = '') => {
    fill(text, HIDDEN);
    const reveal = actionButton(
      { label: 'Show the secret', icon: 'eye', class: 'ghost small', iconOnly: true },
      async () => {
        fill(text, await secretOf(actionId));
        reveal.replaceWith(conceal);
        conceal.focus();
      },
    );
    const conceal = actionButton(
      { label: 'Hide the secret', icon: 'minus', class: 'ghost small', iconOnly: true },
      () => {
        hide();
        row.querySelector('button')?.focus();
        return Promise.resolve();
      },
    );
    fill(
      buttons,
      reveal,
      copyButton('Secret', () => secretOf(actionId)),
      rotate,
    );
    if (note) tell(note);
  };
  const rotate = actionButton(
    {
      label: 'Rotate the secret',
      title: 'Rotate: the next delivery is signed with a new secret',
      icon: 'rotate',
      class: 'ghost small',
      iconOnly: true,
    },
    async () => {
      await ask('POST', `/rules/${ruleId}/actions/${actionId}/rotate`);
      hide(
        'Rotated. The next delivery is signed with the new secret: show or copy it beside the rule.',
      );
      rotate.focus();
    },
  );
  hide();
  return row;
}

async function secretOf(actionId: string): Promise<string> {
  const secrets = await ask<SecretsView>('GET', '/secrets');
  return secrets[actionId]?.current ?? '';
}
