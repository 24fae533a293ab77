// Saturated stations of 802.11n in ns-3.44: built and run by peer_crowd.py, which says what for.
//
// Stations - (802.11n, 2.4 GHz, 5 m) - access point, without IP: packet sockets. Data at 65 Mbit/s (HtMcs7, long guard interval),
// control frames at 24 Mbit/s, beacons at 1 Mbit/s every 20.48 ms without jitter. QoS, best effort. A queue that sends a packet
// gets another one, so that none runs empty. Group addressed frames: none but the beacons.
//
// It prints the beacons, the seconds by which they began late, a PIFS after they were due being in time, the seconds from due
// time to end, the packets received, and the seconds measured; with --frames the number and duration of each kind of frame.

#include "ns3/core-module.h"
#include "ns3/mobility-module.h"
#include "ns3/network-module.h"
#include "ns3/wifi-module.h"

#include <iostream>
#include <map>

using namespace ns3;

static const int64_t BEACON_NS = 20'480'000;
static const int64_t PIFS_NS = 19'000;
static const uint32_t WAITING = 200;
static const Time BEGIN = NanoSeconds(150 * BEACON_NS);

static uint64_t g_beacons = 0, g_packets = 0;
static double g_late = 0, g_listened = 0;
static std::map<std::string, std::map<int64_t, uint64_t>> g_frames;

static void Transmits(WifiConstPsduMap psdus, WifiTxVector vector, double)
{
    auto now = Simulator::Now();
    if (now < BEGIN)
    {
        return;
    }
    const auto& psdu = psdus.begin()->second;
    auto lasts = WifiPhy::CalculateTxDuration(psdus, vector, WIFI_PHY_BAND_2_4GHZ);
    const auto& header = psdu->GetHeader(0);
    auto name = std::string(header.GetTypeString()) + (psdu->GetNMpdus() > 1 ? " x" + std::to_string(psdu->GetNMpdus()) : "");
    ++g_frames[name + " " + std::to_string(psdu->GetSize()) + " " + vector.GetMode(SU_STA_ID).GetUniqueName()][lasts.GetNanoSeconds()];
    if (header.IsBeacon())
    {
        auto after = now.GetNanoSeconds() % BEACON_NS;
        ++g_beacons;
        g_late += std::max<int64_t>(0, after - PIFS_NS) / 1e9;
        g_listened += (after + lasts.GetNanoSeconds()) / 1e9;
    }
}

struct Flow
{
    Ptr<WifiNetDevice> device;
    Address to;
    uint32_t bytes;

    void Send()
    {
        device->Send(Create<Packet>(bytes), to, 0x0800);
    }
};

static std::map<std::pair<Ptr<NetDevice>, Mac48Address>, Flow*> g_flows;

static void Leaves(Ptr<NetDevice> device, Ptr<const WifiMpdu> mpdu)
{
    auto flow = g_flows.find({device, mpdu->GetHeader().GetAddr1()});
    if (mpdu->GetHeader().IsQosData() && flow != g_flows.end())
    {
        Simulator::ScheduleNow(&Flow::Send, flow->second);
    }
}

static bool Received(Ptr<NetDevice>, Ptr<const Packet>, uint16_t, const Address&)
{
    g_packets += Simulator::Now() >= BEGIN;
    return true;
}

int main(int count, char** arguments)
{
    uint32_t stations = 5, bytes = 1500, run = 1, ampdu = 65535, rts = 4692480;
    double seconds = 10;
    bool up = true, down = false, requests = true, frames = false;
    CommandLine line;
    line.AddValue("stations", "number of saturated stations", stations);
    line.AddValue("bytes", "size of a packet, with its IP header", bytes);
    line.AddValue("ampdu", "largest A-MPDU in bytes; 0: none", ampdu);
    line.AddValue("rts", "RTS threshold in bytes", rts);
    line.AddValue("up", "whether stations send", up);
    line.AddValue("down", "whether the access point sends", down);
    line.AddValue("requests", "block ack request after a missed block ack", requests);
    line.AddValue("seconds", "seconds measured", seconds);
    line.AddValue("frames", "print kinds of frames", frames);
    line.AddValue("run", "run of the random numbers", run);
    line.Parse(count, arguments);

    RngSeedManager::SetRun(run);
    Config::SetDefault("ns3::WifiMacQueue::MaxDelay", TimeValue(Seconds(1e6)));
    Config::SetDefault("ns3::WifiMacQueue::MaxSize", QueueSizeValue(QueueSize("100000p")));
    Config::SetDefault("ns3::StaWifiMac::MaxMissedBeacons", UintegerValue(1'000'000));
    Config::SetDefault("ns3::QosTxop::UseExplicitBarAfterMissedBlockAck", BooleanValue(requests));
    Config::SetDefault("ns3::WifiRemoteStationManager::RtsCtsThreshold", UintegerValue(rts));

    NodeContainer nodes;
    nodes.Create(stations + 1);
    YansWifiPhyHelper phy;
    phy.SetChannel(YansWifiChannelHelper::Default().Create());
    phy.Set("ChannelSettings", StringValue("{0, 20, BAND_2_4GHZ, 0}"));
    WifiHelper wifi;
    wifi.SetStandard(WIFI_STANDARD_80211n);
    wifi.SetRemoteStationManager("ns3::ConstantRateWifiManager", "DataMode", StringValue("HtMcs7"),
                                 "ControlMode", StringValue("ErpOfdmRate24Mbps"));
    auto name = SsidValue(Ssid("crowded"));
    WifiMacHelper mac;
    mac.SetType("ns3::ApWifiMac", "Ssid", name, "BeaconInterval", TimeValue(NanoSeconds(BEACON_NS)),
                "EnableBeaconJitter", BooleanValue(false), "BE_MaxAmpduSize", UintegerValue(ampdu));
    auto devices = wifi.Install(phy, mac, nodes.Get(0));
    mac.SetType("ns3::StaWifiMac", "Ssid", name, "BE_MaxAmpduSize", UintegerValue(ampdu));
    for (uint32_t number = 1; number <= stations; ++number)
    {
        devices.Add(wifi.Install(phy, mac, nodes.Get(number)));
    }
    auto places = CreateObject<ListPositionAllocator>();
    for (uint32_t number = 0; number <= stations; ++number)
    {
        auto angle = 2 * M_PI * number / stations, metres = number ? 5.0 : 0.0;
        places->Add(Vector(metres * std::cos(angle), metres * std::sin(angle), 0));
    }
    MobilityHelper mobility;
    mobility.SetPositionAllocator(places);
    mobility.Install(nodes);

    std::vector<std::unique_ptr<Flow>> flows;
    for (uint32_t number = 0; number <= stations; ++number)
    {
        auto device = DynamicCast<WifiNetDevice>(devices.Get(number));
        device->GetPhy()->TraceConnectWithoutContext("PhyTxPsduBegin", MakeCallback(&Transmits));
        device->SetReceiveCallback(MakeCallback(&Received));
        auto queue = device->GetMac()->GetQosTxop(AC_BE)->GetWifiMacQueue();
        queue->TraceConnectWithoutContext("Dequeue", MakeBoundCallback(&Leaves, Ptr<NetDevice>(device)));
        auto peer = [&](uint32_t other) {
            auto to = devices.Get(other)->GetAddress();
            flows.push_back(std::make_unique<Flow>(Flow{device, to, bytes}));
            g_flows[{device, Mac48Address::ConvertFrom(to)}] = flows.back().get();
        };
        if (number && up)
        {
            peer(0);
        }
        for (uint32_t other = 1; !number && down && other <= stations; ++other)
        {
            peer(other);
        }
    }
    auto place = 0;
    for (const auto& flow : flows)
    {
        for (uint32_t number = 0; number < WAITING; ++number)
        {
            Simulator::Schedule(MilliSeconds(1500) + MicroSeconds(20'000 * place + number), &Flow::Send, flow.get());
        }
        ++place;
    }
    Simulator::Stop(BEGIN + Seconds(seconds));
    Simulator::Run();
    std::cout.precision(9);
    std::cout << g_beacons << " " << g_late << " " << g_listened << " " << g_packets << " " << seconds << "\n";
    for (const auto& [kind, durations] : g_frames)
    {
        for (const auto& [lasts, times] : durations)
        {
            if (frames)
            {
                std::cout << kind << ": " << lasts << " ns, " << times << "\n";
            }
        }
    }
}
