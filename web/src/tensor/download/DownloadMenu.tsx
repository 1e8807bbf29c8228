/** The values as files of numpy, streamed by the server, and the picture that is on the screen. */

import "../views.css";
import { Button, Menu } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import { npyAddress } from "../../api/views";
import { DownIcon } from "../../app/icons";
import { download } from "../../graph/svg";
import { useText } from "../../i18n";
import type { Shown } from "../parts";
import { pngOf } from "../picture";
import { fileName } from "./names";

interface Props {
  shown: Shown;
  /** The picture on the screen; null where there is none. Without it: a table is shown. */
  picture?: () => HTMLCanvasElement | null;
}

export function DownloadMenu({ shown, picture }: Props) {
  const text = useText();
  const { place, of, index, partShape, fullShape, isLive } = shown;
  const steps = of === "difference" ? (["current", "previous"] as const) : ([of] as const);
  const isPart = partShape.length < fullShape.length || partShape.some((size, at) => size < fullShape[at]!);
  const links = steps.flatMap((when) => {
    const suffix = of === "difference" ? ` · ${text.views.npyOf[when]}` : "";
    const whole = { address: npyAddress(place, when, ""), words: text.views.npyWhole + suffix };
    const part = { address: npyAddress(place, when, index), words: text.views.npyPart(index) + suffix };
    return isPart ? [part, whole] : [whole];
  });
  const save = async () => {
    try {
      const canvas = picture?.();
      if (canvas) download(await pngOf(canvas), fileName(shown));
    } catch {
      notifications.show({ id: "picture", color: "red", message: text.views.pictureFailed });
    }
  };
  return (
    <Menu position="bottom-end" shadow="md" transitionProps={{ duration: 0 }}>
      <Menu.Target>
        <Button size="compact-xs" variant="default" rightSection={<DownIcon size={12} />}>{text.views.download}</Button>
      </Menu.Target>
      <Menu.Dropdown>
        {links.map(({ address, words }) =>
          isLive ? (
            <Menu.Item key={address} component="a" href={address} download="">{words}</Menu.Item>
          ) : (
            <Menu.Item key={address} disabled>{words}</Menu.Item>
          ),
        )}
        <Menu.Item disabled={!picture} onClick={() => void save()}>
          {text.views.picture}
          {!picture && <span className="ss-views-hint">{text.views.noPicture}</span>}
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}
