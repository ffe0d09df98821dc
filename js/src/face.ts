/** What a form shows while it is sent, to eyes and to assistive technology. */
export interface Face {
  /** Whether a submission is under way. */
  busy(): unknown;
  /** Begins one. */
  hold(text: string): void;
  say(text: string | undefined): void;
  /** Ends it after some milliseconds, and then says a text, if there is one. */
  end(ms?: number, text?: string): void;
}

/** Returns the face of a form. It adds a status line if there is none. */
export function faceOf(form: HTMLFormElement): Face {
  const status = form.querySelector("[role=status]") ?? form.appendChild(document.createElement("p"));
  status.role = "status";
  let enable: (() => void) | undefined; // while busy
  let timer: ReturnType<typeof setTimeout>;
  const say = (text: string | undefined) => {
    status.textContent = text!;
  };
  return {
    busy: () => enable,
    hold(text) {
      say(text);
      enable = () => {};
      // Later, since a button that is disabled now would be missing in what is sent.
      setTimeout(() => {
        enable &&= disable(form);
      });
    },
    say,
    end(ms, text) {
      clearTimeout(timer);
      timer = setTimeout(() => {
        enable?.();
        enable = undefined;
        if (text != null) say(text);
      }, ms);
    },
  };
}

/**
 * Disables the submit buttons, those outside of the form and images too, and returns
 * what enables them again. A field called elements would hide the form's.
 */
function disable(form: HTMLFormElement): () => void {
  const controls = (form.getRootNode() as Document).querySelectorAll<HTMLButtonElement>(":enabled");
  const buttons = [...controls].filter((b) => b.form === form && /submit|image/.test(b.type));
  const active = buttons.find((b) => b === document.activeElement);
  for (const button of buttons) {
    button.disabled = true;
    // Firefox would keep the button disabled over a reload.
    button.setAttribute("autocomplete", "off");
  }
  form.ariaBusy = "true";
  return () => {
    for (const button of buttons) button.disabled = false;
    form.ariaBusy = null;
    // A disabled button loses the keyboard's place.
    if (document.activeElement === document.body) active?.focus();
  };
}
