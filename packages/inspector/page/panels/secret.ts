import { setChildren, h } from '../dom/element.ts';
import type { SecretsView } from '@call-webhooks/simulator/control-api';
import { callApi } from '../live/api.ts';
import { actionButton } from '../components/action-button.ts';
import { copyButton } from '../components/action-button.ts';
import { notify } from '../components/notices.ts';

const HIDDEN = 'whsec_••••••••••••';

/**
 * The signing secret of an action. The page fetches it only when the user shows or copies it, and
 * hides it again after a rotation.
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
    setChildren(text, HIDDEN);
    const reveal = actionButton(
      { label: 'Show the secret', icon: 'eye', class: 'ghost small', iconOnly: true },
      async () => {
        setChildren(text, await secretOf(actionId));
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
    setChildren(
      buttons,
      reveal,
      copyButton('Secret', () => secretOf(actionId)),
      rotate,
    );
    if (note) notify(note);
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
      await callApi('POST', `/rules/${ruleId}/actions/${actionId}/rotate`);
      hide('Rotated. The next delivery is signed with the new secret.');
      rotate.focus();
    },
  );
  hide();
  return row;
}

async function secretOf(actionId: string): Promise<string> {
  const secrets = await callApi<SecretsView>('GET', '/secrets');
  return secrets[actionId]?.current ?? '';
}
