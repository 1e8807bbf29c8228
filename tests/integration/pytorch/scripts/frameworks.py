"""`frameworks.py WHICH`: a training as users of HuggingFace, Lightning or Accelerate write it. It prints each loss to
the last bit, and `evaluated …` for what it does without gradients in between."""

import sys

import torch
from torch import nn
from torch.nn import functional
from torch.utils.data import DataLoader, TensorDataset


def trainer():
    from transformers import BertConfig, BertForSequenceClassification, Trainer, TrainerCallback, TrainingArguments

    class Said(TrainerCallback):
        def on_log(self, args, state, control, logs=None, **_):
            if "loss" in (logs or {}):
                print("loss", float(logs["loss"]).hex(), flush=True)

        def on_evaluate(self, args, state, control, metrics=None, **_):
            print("evaluated", float(metrics["eval_loss"]).hex(), flush=True)

    sizes = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 24}
    model = BertForSequenceClassification(BertConfig(vocab_size=30, max_position_embeddings=8, **sizes))
    mask = torch.tensor([1, 1, 1, 1, 0, 0])
    words = [torch.randint(0, 30, (6,)) for _ in range(24)]
    data = [{"input_ids": each, "attention_mask": mask, "labels": n % 2} for n, each in enumerate(words)]
    arguments = TrainingArguments(
        "out",
        per_device_train_batch_size=2,
        gradient_accumulation_steps=2,
        gradient_checkpointing=True,
        max_steps=6,
        logging_steps=1,
        eval_strategy="steps",
        eval_steps=2,
        save_strategy="no",
        report_to=[],
        disable_tqdm=True,
        use_cpu=True,
    )
    Trainer(model, arguments, train_dataset=data, eval_dataset=data[:4], callbacks=[Said()]).train()


def points():
    x = torch.randn(24, 4)
    return TensorDataset(x, (x.sum(1) > 0).long())


def network():
    return nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.ReLU(inplace=True), nn.Dropout(0.1), nn.Linear(8, 2))


def lightning():
    from lightning import LightningModule, Trainer

    class Classifier(LightningModule):
        def __init__(self):
            super().__init__()
            self.net = network()

        def training_step(self, batch, number):
            loss = functional.cross_entropy(self.net(batch[0]), batch[1])
            print("loss", loss.item().hex(), flush=True)
            return loss

        def validation_step(self, batch, number):
            print("evaluated", float(functional.cross_entropy(self.net(batch[0]), batch[1])).hex(), flush=True)

        def configure_optimizers(self):
            return torch.optim.AdamW(self.parameters(), lr=0.01)

    silent = ("logger", "enable_checkpointing", "enable_progress_bar", "enable_model_summary")
    quiet = dict.fromkeys(silent, False)
    fit = Trainer(max_epochs=2, gradient_clip_val=0.5, accelerator="cpu", devices=1, **quiet)
    data = points()
    fit.fit(Classifier(), DataLoader(data, batch_size=8, shuffle=True), DataLoader(data, batch_size=12))


def accelerate():
    from accelerate import Accelerator

    accelerator = Accelerator(cpu=True, gradient_accumulation_steps=2)
    net, data = network(), points()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 2, 0.5)
    loader = DataLoader(data, batch_size=4, shuffle=True)
    net, optimizer, loader, scheduler = accelerator.prepare(net, optimizer, loader, scheduler)
    for _ in range(2):
        net.train()
        for x, y in loader:
            with accelerator.accumulate(net):
                loss = functional.cross_entropy(net(x), y)
                accelerator.backward(loss)
                if accelerator.sync_gradients:
                    accelerator.clip_grad_norm_(net.parameters(), 1.0)
                optimizer.step()
                scheduler.step()
                optimizer.zero_grad()
            print("loss", loss.item().hex(), flush=True)
        net.eval()
        with torch.no_grad():
            print("evaluated", float(functional.cross_entropy(net(data.tensors[0]), data.tensors[1])).hex(), flush=True)


torch.manual_seed(3)
globals()[sys.argv[1]]()
