// Without its fonts: the reader's own are good, and there is nothing to load.
import theme from 'vitepress/theme-without-fonts';
import { useData } from 'vitepress';
import { onMounted, watch } from 'vue';
import './style.css';

const { document, MutationObserver } = globalThis;

/** The home page of the theme has no main landmark, as its other pages do. */
function markMain() {
  const content = document.querySelector('.VPContent');
  if (content?.querySelector('main')) content.removeAttribute('role');
  else content?.setAttribute('role', 'main');
}

/**
 * The theme calls its search box a button, although it contains a field, and its results options,
 * although they are links.
 */
function markSearch() {
  const box = document.querySelector('.VPLocalSearchBox');
  if (!box) return;
  give(box, '[role="button"].VPLocalSearchBox', 'dialog', ['aria-expanded', 'aria-haspopup']);
  for (const list of box.querySelectorAll('[role="listbox"]')) give(list, '*', 'list', []);
  for (const item of box.querySelectorAll('[role="option"]'))
    give(item, '*', 'listitem', ['aria-selected']);
  for (const link of box.querySelectorAll('a.result')) link.removeAttribute('aria-label');
}

function give(element, selector, role, without) {
  if (!element.matches(selector)) return;
  element.setAttribute('role', role);
  for (const name of without) element.removeAttribute(name);
}

export default {
  extends: theme,
  setup() {
    const { page } = useData();
    onMounted(() => {
      markMain();
      new MutationObserver(markSearch).observe(document.body, { childList: true, subtree: true });
    });
    watch(() => page.value.relativePath, markMain, { flush: 'post' });
  },
};
