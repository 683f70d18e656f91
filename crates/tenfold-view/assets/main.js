const list = document.getElementById("files");
const { files } = await (await fetch("/api/files")).json();
for (const file of files) {
  const item = document.createElement("li");
  item.textContent = `${file.name}: ${file.format}, ${file.tensors} tensors`;
  list.append(item);
}
